"""How the tests of a repository are run, found from its manifests; a pure rule from texts to commands."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cogworks.domain_services.languages import languages_at
from cogworks.services.command.building import with_build
from cogworks.services.command.fetching import is_workflow, with_own_options
from cogworks.services.command.managers import installing_line, starter_of
from cogworks.services.command.recipe import INSIDE, REPORT, Recipe
from cogworks.services.command.scripts import NODE_TEST, of_named, of_packages, of_script

_MOST_POM_CHARS = 1_000_000
_READ = frozenset(
    {
        "package.json",
        ".yarnrc.yml",
        "pnpm-lock.yaml",
        "yarn.lock",
        "Makefile",
        "Gemfile",
        "Rakefile",
        "composer.json",
        "Cargo.toml",
        "pom.xml",
    }
)
_BY_FIRST_WORD = ("ruby", "php")
_STARTED = re.compile(
    r"(?:\w+=\S* )*(?:bundle exec |php (?:-\S+ )*)?(?:[\w.-]*/)*(rspec|rake|phpunit)(?:\.phar)?(?= |$)"
)
_KNOWN: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "go test": re.compile(r"\bgo test\b"),
        "cargo test": re.compile(r"\bcargo test\b"),
        "maven": re.compile(r"\bmvnw?\b"),
        "gradle": re.compile(r"\bgradlew?\b"),
    }
)
"""Runner -> how to recognise a command that starts it, and so writes what it always writes."""
_OF_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_IMPORTS_NODE_TEST = re.compile(rf"(?:from|require\(|import\(|import) ?['\"]{NODE_TEST}['\"]")
Texts = Mapping[str, str]
"""Name at the root, path of a workflow, or path of a test that imports `node:test` -> text of it, empty for a file that is not read."""


def recipe_of(texts: Texts, language: str = "") -> Recipe:
    """The recipe of a root; one without `test` where no test command is found, with a note that says why."""
    languages = [language] if language else [*languages_at(tuple(texts))]
    recipes = [_RULES[each](texts) for each in languages if each in _RULES]
    for recipe in recipes:
        if recipe.test:
            return recipe
    return (
        recipes[0] if recipes else Recipe(notes=("no manifest here tells of a language this service knows",))
    )


def with_line(recipe: Recipe, line: str) -> Recipe:
    """The recipe with a test command of the user's, asked for the report that its runner is known to write."""
    if recipe.language == "typescript":
        own = of_script(line, {})
    elif recipe.language == "go":
        own = recipe._replace(test=re.sub(r"\bgo test\b(?! -json)", "go test -json", line))
    elif recipe.language in _BY_FIRST_WORD:
        return _by_first_word(recipe, line)
    else:
        own = recipe._replace(test=line)
    # Where nothing is known of the command, it has to report its tests as the repository's own does.
    report = recipe.report if own.report == "exit-code" else own.report
    return recipe._replace(
        test=own.test,
        test_one="",
        runner=own.runner,
        report=report,
        report_file=own.report_file,
        source="the test command",
        notes=(),
    )


def reporting(recipe: Recipe, line: str) -> Recipe | None:
    """As `with_line`; None where it is unknown what the command reports."""
    own = with_line(recipe, line)
    if recipe.language in _BY_FIRST_WORD:
        return own if own.report != "exit-code" else None
    if recipe.language in ("", "typescript"):
        own = of_script(line, {})
        return own._replace(language=recipe.language) if own.report != "exit-code" else None
    started = _KNOWN.get(recipe.runner)
    return own if started and started.search(line) else None


def _by_first_word(recipe: Recipe, line: str) -> Recipe:
    """What the program that a line begins with writes; of another one, as of a script, only its end is known."""
    started = _STARTED.match(line)
    program = started[1] if started else ""
    own = Recipe(runner=program, test=line)
    if program == "rspec":
        own = _of_rspec(line, has_formatter="RspecJunitFormatter" in recipe.test)
    elif program == "phpunit":
        own = Recipe(runner=program, test=f"{line} --log-junit {REPORT}", report="junit")
    elif program == "rake" and recipe.runner.startswith("minitest"):
        own = Recipe(runner=recipe.runner, test=line, report=recipe.report)
    return recipe._replace(
        test=own.test,
        runner=own.runner,
        report=own.report,
        report_file="",
        test_one="",
        source="the test command",
        notes=(),
    )


def _of_rspec(line: str, *, has_formatter: bool) -> Recipe:
    if has_formatter:
        return Recipe(
            runner="rspec", test=f"{line} --format RspecJunitFormatter --out {REPORT}", report="junit"
        )
    shown = "" if re.search(r" (?:-f|--format)\b", line) else " --format progress"
    own = f"--require {INSIDE}/ruby/cogworks_rspec.rb --format CogworksFormatter --out {REPORT}"
    return Recipe(runner="rspec", test=f"{line}{shown} {own}", report="node-test")


def wanted_texts(names: Sequence[str]) -> tuple[str, ...]:
    """Which of these files a recipe reads."""
    return tuple(name for name in names if name in _READ or name.endswith(".gemspec") or is_workflow(name))


def imports_node_test(path: str, text: str) -> bool:
    """Whether a file is a test of JavaScript or TypeScript that imports Node's own runner."""
    return _IMPORTS_NODE_TEST.search(text) is not None and _OF_SCRIPT.search(path) is not None


def _typescript(texts: Texts) -> Recipe:
    manifest = _json(texts.get("package.json", ""))
    scripts = _strings(manifest.get("scripts"))
    packages = {**_strings(manifest.get("dependencies")), **_strings(manifest.get("devDependencies"))}
    has_script = "test" in scripts and "no test specified" not in scripts["test"]
    script = " && ".join(scripts[name] for name in ("pretest", "test") if name in scripts)
    line, manager = installing_line(manifest, texts)
    starter = starter_of(line, manager, texts)
    runners = {*packages, *(NODE_TEST for name, text in texts.items() if imports_node_test(name, text))}
    recipe = of_script(script, scripts, runners, starter) if has_script else Recipe(runner="script")
    if recipe.runner == "script" and not recipe.notes:
        named = of_named(scripts, runners, starter)
        recipe = named or (recipe if has_script else of_packages(packages, starter))
    recipe = with_build(recipe, scripts, texts, starter)
    setup, workflow = with_own_options(line, texts) if packages else ("", "")
    own = (f"`{setup}` has the options that `{workflow}` gives it",) if workflow else ()
    return recipe._replace(
        language="typescript",
        setup=(setup,) if setup else (),
        manager=manager,
        node=_strings(manifest.get("engines")).get("node", ""),
        notes=(*dict.fromkeys(recipe.notes), *own),
        lint=_linter(packages, scripts, starter),
        format=_formatter(packages, scripts, starter),
        programs=("node",),
    )


_LINTERS: Mapping[str, str] = MappingProxyType(
    {
        "eslint": "eslint --format json {files}",
        "standard": "standard {files}",
        "semistandard": "semistandard {files}",
    }
)
"""npm package -> how it looks at files."""


def _linter(packages: Mapping[str, str], scripts: Mapping[str, str], starter: str) -> str:
    """How files are looked at; of two linters the one that a script starts. Empty: in no known way."""
    there = [name for name in _LINTERS if _uses(name, packages, scripts)]
    started = [name for name in there if _uses(name, {}, scripts)]
    return next((f"{starter}{_LINTERS[name]}" for name in (*started, *there)), "")


_FORMATTERS: Mapping[str, str] = MappingProxyType(
    {
        "prettier": "prettier --write {files}",
        # A file that its configuration leaves out is none that it cannot format.
        "@biomejs/biome": "biome format --write --no-errors-on-unmatched {files}",
    }
)
"""npm package -> how it formats files."""


def _formatter(packages: Mapping[str, str], scripts: Mapping[str, str], starter: str) -> str:
    """How files are formatted; of two formatters the one that a script of the project names. Empty: in no known way."""
    there = [name for name in _FORMATTERS if _uses(name, packages, scripts)]
    words = " ".join(scripts.values())
    named = [name for name in there if _FORMATTERS[name].split()[0] in words]
    return next((f"{starter}{_FORMATTERS[name]}" for name in (*named, *there)), "")


def _uses(package: str, packages: Mapping[str, str], scripts: Mapping[str, str]) -> bool:
    """Whether a manifest names a package, or a script starts its program: it may come with a package of settings that needs it."""
    starts = re.compile(rf"(?:^|&&|;)\s{{0,20}}(?:npx )?{_PROGRAMS.get(package, package)}(?=\s|$)")
    return package in packages or any(starts.search(script) for script in scripts.values())


_PROGRAMS = MappingProxyType({"@biomejs/biome": "biome"})
"""npm package -> its program, where that has another name."""


def _go(texts: Texts) -> Recipe:
    return Recipe(
        language="go",
        runner="go test",
        test="go test -json ./...",
        report="go-json",
        setup=("go mod download",) if "go.sum" in texts else (),
        lint="go vet ./...",
        format="gofmt -w {files}",
        programs=("go",),
        source="go.mod",
    )


def _rust(texts: Texts) -> Recipe:
    del texts
    return Recipe(
        language="rust",
        runner="cargo test",
        test="cargo test --offline --no-fail-fast --workspace",
        report="cargo",
        setup=("cargo fetch",),
        format="rustfmt {files}",
        programs=("cargo", "rustc"),
        source="Cargo.toml",
    )


def _java(texts: Texts) -> Recipe:
    if "pom.xml" in texts:
        return Recipe(
            language="java",
            runner="maven",
            test="mvn -B -o -fae test",
            report="junit",
            report_file="**/target/surefire-reports/TEST-*.xml",
            setup=("mvn -B test-compile",),
            programs=("mvn", "java"),
            source="pom.xml",
            modules=_modules(texts["pom.xml"]),
        )
    program = "sh ./gradlew" if "gradlew" in texts else "gradle"
    return Recipe(
        language="java",
        runner="gradle",
        test=f"{program} --no-daemon test --offline --continue --console=plain",
        report="junit",
        report_file="**/build/test-results/test/*.xml",
        setup=(f"{program} testClasses",),
        programs=("java",) if "gradlew" in texts else ("gradle", "java"),
        source="build.gradle" if "build.gradle" in texts else "build.gradle.kts",
    )


def _modules(pom: str) -> tuple[str, ...]:
    """The modules that are always built: not those of a profile, nor what stands in a comment."""
    always = re.sub(r"<!--.*?-->|<profiles>.*?</profiles>", "", pom[:_MOST_POM_CHARS], flags=re.DOTALL)
    named = re.findall(r"<module>\s{0,20}([\w./-]{1,200}?)/?\s{0,20}</module>", always)
    return tuple(name for name in named if not name.startswith((".", "/")) and not name.endswith(".xml"))


def _c(texts: Texts) -> Recipe:
    if "CMakeLists.txt" in texts:
        build = "cmake -S . -B .cogworks-build && cmake --build .cogworks-build"
        return Recipe(
            language="c",
            runner="ctest",
            test=f"{build} && ctest --test-dir .cogworks-build --output-on-failure --output-junit {REPORT}",
            report="junit",
            programs=("cmake", "ctest"),
            source="CMakeLists.txt",
        )
    targets = re.findall(r"(?m)^(test|check)\s{0,8}:(?!=)", texts.get("Makefile", ""))
    if not targets:
        return Recipe(
            language="c", notes=("the Makefile has neither a target `test` nor `check`",), source="Makefile"
        )
    target = "test" if "test" in targets else "check"
    return Recipe(
        language="c",
        runner="make",
        test=f"make {target}",
        programs=("make",),
        source=f"Makefile, target {target}",
    )


def _csharp(texts: Texts) -> Recipe:
    return Recipe(
        language="csharp",
        runner="dotnet test",
        test="dotnet test --no-restore --logger 'trx;LogFilePrefix=cogworks'",
        report="trx",
        report_file="**/TestResults/cogworks*.trx",
        setup=("dotnet restore",),
        programs=("dotnet",),
        source=next((name for name in texts if name.endswith((".sln", ".csproj"))), ""),
    )


def _ruby(texts: Texts) -> Recipe:
    gems = "\n".join(text for name, text in texts.items() if name == "Gemfile" or name.endswith(".gemspec"))
    bundled = "bundle exec " if "Gemfile" in texts else ""
    manifests = ["Gemfile", *(name for name in texts if name.endswith(".gemspec")), "Rakefile"]
    recipe = Recipe(
        language="ruby",
        # What is installed already is enough.
        setup=("bundle check || bundle install",) if bundled else (),
        programs=("ruby",),
        source=next((name for name in manifests if name in texts), ""),
    )
    if "rspec_junit_formatter" in gems:
        own = _of_rspec(f"{bundled}rspec", has_formatter=True)
        return recipe._replace(runner=own.runner, test=own.test, report=own.report)
    if re.search(r"['\"]rspec['\"]", gems) or ".rspec" in texts or ("spec" in texts and "test" not in texts):
        own = _of_rspec(f"{bundled}rspec", has_formatter=False)
        return recipe._replace(runner=own.runner, test=own.test, report=own.report)
    if "Rakefile" not in texts:
        note = "neither a Rakefile nor rspec is there, so nothing tells how the tests are run"
        return recipe._replace(notes=(note,))
    test = f"{bundled}rake test"
    if re.search(r"['\"]test-unit['\"]", gems):
        return recipe._replace(runner="rake", test=test)
    # The task of Minitest's own takes no files.
    runner = "minitest's task" if "minitest/test_task" in texts["Rakefile"] else "minitest"
    return recipe._replace(runner=runner, test=test, report="node-test")


def _php(texts: Texts) -> Recipe:
    del texts
    return Recipe(
        language="php",
        runner="phpunit",
        # Of `vendor/bin`, which stands before the rest of PATH, else of the system.
        test=f"phpunit --log-junit {REPORT}",
        report="junit",
        setup=("composer install --no-interaction",),
        programs=("php",),
        source="composer.json",
    )


_RULES: Mapping[str, Callable[[Texts], Recipe]] = MappingProxyType(
    {
        "typescript": _typescript,
        "go": _go,
        "rust": _rust,
        "java": _java,
        "csharp": _csharp,
        "ruby": _ruby,
        "php": _php,
        "c": _c,
    }
)


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> dict[str, str]:
    return (
        {key: each for key, each in value.items() if isinstance(each, str)} if isinstance(value, dict) else {}
    )
