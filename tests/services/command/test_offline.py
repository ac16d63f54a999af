"""Builds of Java that want packages which are not on this machine."""

from pathlib import Path

import pytest

from cogworks.services.command.fetching import not_fetched
from tests.services.asking import laid_out
from tests.services.command.commanding import needs, report_of

MAVEN = (
    "Plugin org.x:y:jar:1 could not be resolved: Cannot access central in offline mode and the artifact org.x:y:jar:1 "
    "has not been downloaded from it before."
)
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <parent><groupId>org.example</groupId><artifactId>no-such-parent</artifactId><version>7</version></parent>
</project>
"""


@pytest.mark.parametrize(
    ("runner", "error", "told"),
    [
        ("maven", MAVEN, "`mvn -B test` as the same user, which fills `~/.m2/repository`"),
        ("gradle", "No cached version of junit:junit:4.13 available for offline mode.", "`~/.gradle/caches`"),
        ("maven", "cannot find symbol", ""),
        ("cargo test", MAVEN, ""),
    ],
)
def test_what_fills_the_packages_of_this_machine_is_told_where_some_are_missing(
    runner: str, error: str, told: str
) -> None:
    remedies = not_fetched(runner, ["x", error])

    assert bool(remedies) is bool(told)
    assert told in " ".join(remedies)


@pytest.mark.slow
@needs("mvn", "java")
def test_a_pom_whose_parent_is_nowhere_names_it_and_what_to_run(tmp_path: Path) -> None:
    report = report_of(laid_out(tmp_path, {"pom.xml": POM}), settings={"mode": "prepared"})

    [error] = report.collection_errors
    assert "org.example:no-such-parent:pom:7" in error
    assert "`mvn -B test`" in report.remedies[0]
