"""Tests and setups that want packages which are not on this machine."""

import shutil
from pathlib import Path

import pytest

from cogworks.services.command.fetching import by_hand, not_fetched
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.recipes import recipe_of
from tests.services.asking import laid_out
from tests.services.command.commanding import ask, needs, report_of

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
    remedies = not_fetched(Recipe(runner=runner), ["x", error], has_vendor=False)

    assert bool(remedies) is bool(told)
    assert told in " ".join(remedies)


NO_GEM = ".: Could not find gem 'minitest (~> 5.0.0)' in locally installed gems. (Bundler::GemNotFound)"
RAKE = recipe_of({"Gemfile": "gem 'minitest'", "Rakefile": ""})
RSPEC = recipe_of({"Gemfile": "gem 'rspec'"})
PHP = recipe_of({"composer.json": "{}"})


@pytest.mark.parametrize(
    ("recipe", "command"),
    [
        (RAKE, '`command = "rake test"`'),
        (RSPEC, '`command = "rspec"`'),
        (RAKE._replace(test="rake test"), ""),
    ],
)
def test_gems_that_are_missing_are_installed_before_or_done_without(recipe: Recipe, command: str) -> None:
    [remedy] = not_fetched(recipe, [NO_GEM], has_vendor=False)

    assert remedy.startswith(
        "Let a step before cogworks install the gems of the `Gemfile`, and say `environment = "
    )
    assert ("Or leave Bundler out" in remedy) is bool(command)
    assert command in remedy
    assert by_hand(recipe, recipe.setup) == (remedy,)
    assert by_hand(recipe, ["npm ci"]) == not_fetched(recipe, ["syntax error"], has_vendor=False) == ()


@pytest.mark.parametrize(
    ("error", "is_gem"),
    [
        ("test/helper.rb:1: cannot load such file -- simplecov (LoadError)", True),
        ("test/helper.rb:1: cannot load such file -- rspec/its (LoadError)", True),
        ("test/helper.rb:1: cannot load such file -- shop/cart (LoadError)", False),
        ("test/helper.rb:1: cannot load such file -- /tmp/x/shop (LoadError)", False),
        ("test/helper.rb:1: cannot load such file -- test/shop.rb (LoadError)", False),
    ],
)
def test_what_ruby_cannot_load_is_of_a_gem_unless_it_could_be_a_file_of_the_repository(
    error: str, is_gem: bool
) -> None:
    assert bool(not_fetched(RAKE, [error], has_vendor=False, files=("lib/shop/cart.rb",))) is is_gem


@pytest.mark.parametrize(
    "error",
    [
        '.: Cannot open file "vendor/autoload.php".',
        'test/a.php: test/a.php:9: Error: Class "A\\B\\TestCase" not found',
    ],
)
def test_packages_of_php_that_nobody_installed_are_the_cause_of_what_cannot_be_loaded(error: str) -> None:
    [remedy] = not_fetched(PHP, ["x", error], has_vendor=False)

    assert remedy.startswith(
        "`vendor/` is not there, which `composer install` makes. Commit it (`git add -f vendor`) and say `environment = "
    )
    assert "`COGWORKS_REGISTRY_HOSTS=repo.packagist.org,api.github.com,codeload.github.com`" in remedy
    assert by_hand(PHP, PHP.setup) == (remedy,)
    assert not_fetched(PHP, [error], has_vendor=True) == ()
    assert not_fetched(PHP, ["test/a.php: syntax error"], has_vendor=False) == ()


@needs("php", "git")
@pytest.mark.parametrize("allowed", ["", "repo.packagist.org api.github.com codeload.github.com"])
def test_where_composer_is_missing_its_hosts_are_told_at_once_unless_they_are_allowed(
    allowed: str, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("php", "git"):
        (programs / name).symlink_to(str(shutil.which(name)))
    folder = laid_out(tmp_path / "repository", {"composer.json": "{}"})
    settings = {"COGWORKS_REGISTRY_HOSTS": allowed}
    error = ask("prepare", folder, path=str(programs), environment_of_service=settings).error

    assert error is not None
    assert (
        "composer.json asks for `composer`, not on this machine's PATH: install Composer (" in error.message
    )
    assert ("`git add -f vendor`" in error.message) is not bool(allowed)
    assert ("allow them by `COGWORKS_REGISTRY_HOSTS=repo.packagist.org," in error.message) is not bool(
        allowed
    )


@pytest.mark.slow
@needs("php", "phpunit")
def test_a_suite_of_php_without_its_packages_says_what_makes_them(tmp_path: Path) -> None:
    xml = '<?xml version="1.0"?>\n<phpunit bootstrap="vendor/autoload.php"><testsuites/></phpunit>\n'
    laid_out(tmp_path, {"composer.json": "{}", "phpunit.xml": xml})
    report = report_of(tmp_path, settings={"mode": "prepared"})

    assert report.collection_errors
    assert report.remedies[0].startswith("`vendor/` is not there")


@pytest.mark.slow
@needs("mvn", "java")
def test_a_pom_whose_parent_is_nowhere_names_it_and_what_to_run(tmp_path: Path) -> None:
    report = report_of(laid_out(tmp_path, {"pom.xml": POM}), settings={"mode": "prepared"})

    [error] = report.collection_errors
    assert "org.example:no-such-parent:pom:7" in error
    assert "`mvn -B test`" in report.remedies[0]
