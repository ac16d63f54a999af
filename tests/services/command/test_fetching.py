"""Packages of Go and Rust that nobody installed: fetched by default through the door, used without a network."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import ErrorCode
from cogworks.services.command.fetching import lacks_modules, locks_crates, names_crates, own_cache
from tests.services.asking import HERE, laid_out
from tests.services.command.commanding import ask, needs, outcomes, report_of
from tests.services.command.package_registries import (
    CARGO_CONFIG,
    CRATE,
    GEMS_HOST,
    GO_HOST,
    MODULE,
    MODULE_VERSION,
    cargo_lock,
    filled_cache,
    gem_index,
    go_sums,
    registries_up,
)
from tests.services.command.test_own_setup import committed, prepared

GO = {
    "go.mod": f"module example.com/shop\n\ngo 1.16\n\nrequire {MODULE} {MODULE_VERSION}\n",
    "go.sum": go_sums(),
    "shop_test.go": f'package shop\n\nimport (\n\t"testing"\n\n\t"{MODULE}"\n)\n\n'
    'func TestPrice(t *testing.T) {\n\tif cents.Of(2) != 200 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
}
RUST = {
    "Cargo.toml": f'[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n{CRATE} = "1"\n',
    ".cargo/config.toml": CARGO_CONFIG,
    "src/lib.rs": "#[test]\nfn price() { assert_eq!(cents::of(2), 200); }\n",
}
RUBY = {
    "Gemfile": f'source "http://{GEMS_HOST}"\ngem "cents"\ngem "rake"\ngem "minitest"\n',
    "Rakefile": 'require "rake/testtask"\nRake::TestTask.new(:test) { |t| t.test_files = FileList["test/*_test.rb"] }\n',
    "test/price_test.rb": 'require "minitest/autorun"\nrequire "cents"\n'
    "class PriceTest < Minitest::Test\n  def test_price; assert_equal 200, Cents.of(2); end\nend\n",
}
isolated = pytest.mark.skipif(not HERE.is_complete, reason="no complete isolation on this machine")


def kept_choices(repository: Path, **asked: Any) -> list[tuple[str, str]]:
    """What was chosen, and from which file, for an environment that is there already; no registry answers any more."""
    told = prepared(repository, **asked)
    assert told.is_reused
    return [(each.what, each.source) for each in told.choices]


@pytest.mark.parametrize(
    ("manifest", "is_named"),
    [
        ('[dependencies]\nserde = "1"\n', True),
        ('[dev-dependencies]\nserde = { version = "1", optional = true }\n', True),
        ("[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n", True),
        ('[workspace.dependencies]\nserde = "1"\n', True),
        ('[dependencies]\nown = { path = "own", version = "1" }\nshared.workspace = true\n', False),
        ('[dependencies]\nfar = { git = "https://example.com/far" }\n', False),
        ('[package]\nname = "x"\n', False),
        ("[[[", False),
        ("dependencies = 1\n", False),
    ],
)
def test_a_manifest_names_crates_of_a_registry_or_it_does_not(manifest: str, is_named: bool) -> None:
    assert names_crates(manifest) is is_named


def test_a_lock_file_of_own_packages_alone_names_no_crates() -> None:
    assert locks_crates(cargo_lock("shop"))
    assert not locks_crates('version = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n')


def test_a_module_cache_is_enough_only_where_it_holds_what_go_sum_names(tmp_path: Path) -> None:
    assert lacks_modules(go_sums(), None)
    assert lacks_modules(go_sums(), tmp_path)
    assert not lacks_modules(go_sums(), filled_cache(tmp_path))
    assert not lacks_modules("", None)


def test_a_setup_asks_the_cache_of_the_machine_before_a_proxy_and_never_writes_to_it() -> None:
    given = {"GOMODCACHE": "/home/me/go/pkg/mod", "NUGET_PACKAGES": "/x"}
    cached = "file:///home/me/go/pkg/mod/cache/download"

    assert own_cache(given, "") == {"NUGET_PACKAGES": "/x", "GOPROXY": f"{cached},https://proxy.golang.org"}
    assert own_cache(given, "https://own.example.com")["GOPROXY"] == f"{cached},https://own.example.com"
    assert own_cache({"NUGET_PACKAGES": "/x"}, "https://own.example.com") == {"NUGET_PACKAGES": "/x"}


@pytest.mark.slow
@isolated
@needs("go")
def test_modules_of_go_are_fetched_once_and_are_there_without_a_network(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    asked: dict[str, Any] = {"kept": tmp_path / "kept", "base": committed(repository, GO), "home": tmp_path}
    with registries_up() as served:
        report = report_of(repository, **asked, environment_of_service=served.settings)

    assert outcomes(report) == {"shop_test.go::TestPrice": "passed"}
    assert any(each.endswith(".zip") for each in served.asked)
    assert ("setup `go mod download`", "go.mod") in kept_choices(repository, **asked)
    assert outcomes(report_of(repository, **asked)) == outcomes(report)


@pytest.mark.slow
@isolated
@needs("go")
def test_a_module_cache_with_modules_of_other_projects_stands_in_nobodys_way(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "go/pkg/mod/cache/download").mkdir(parents=True)
    repository = tmp_path / "repository"
    asked: dict[str, Any] = {"kept": tmp_path / "kept", "base": committed(repository, GO), "home": home}
    with registries_up() as served:
        report = report_of(repository, **asked, environment_of_service=served.settings)

    assert outcomes(report) == {"shop_test.go::TestPrice": "passed"}
    assert list((home / "go/pkg/mod").rglob("*.zip")) == []


@pytest.mark.slow
@isolated
@needs("go")
def test_what_the_module_cache_of_the_machine_holds_is_asked_of_no_registry(tmp_path: Path) -> None:
    home = tmp_path / "home"
    filled_cache(home)
    stranger = "example.com/other v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    repository = tmp_path / "repository"
    base = committed(repository, {**GO, "go.sum": stranger + go_sums()})
    with registries_up() as served:
        report = report_of(repository, base=base, home=home, environment_of_service=served.settings)

    assert outcomes(report) == {"shop_test.go::TestPrice": "passed"}
    assert not [each for each in served.asked if each.startswith(GO_HOST)]


@pytest.mark.slow
@isolated
@needs("go")
def test_a_module_that_no_registry_has_is_told_in_the_words_of_go(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    base = committed(repository, {name: text.replace(MODULE_VERSION, "v1.9.9") for name, text in GO.items()})
    with registries_up() as served:
        asked: dict[str, Any] = {"base": base, "home": tmp_path, "environment_of_service": served.settings}
        error = ask("prepare", repository, **asked).error

    assert error is not None
    assert "the setup `go mod download` (1 of 1 in `go.mod`) ended with 1" in error.message
    assert f"{MODULE}@v1.9.9" in error.message


@pytest.mark.slow
@isolated
@needs("cargo", "rustc")
@pytest.mark.parametrize("is_locked", [True, False], ids=["with-a-lock-file", "as-libraries-are-published"])
def test_crates_are_fetched_once_and_are_there_without_a_network(is_locked: bool, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    files = (
        {**RUST, "Cargo.lock": cargo_lock("shop")} if is_locked else {**RUST, ".gitignore": "Cargo.lock\n"}
    )
    asked: dict[str, Any] = {"kept": tmp_path / "kept", "base": committed(repository, files)}
    with registries_up() as served:
        report = report_of(repository, **asked, environment_of_service=served.settings)

    assert outcomes(report) == {"src/lib.rs::price": "passed"}
    assert any(each.endswith("/download") for each in served.asked)
    assert ("setup `cargo fetch`", "Cargo.toml") in kept_choices(repository, **asked)
    assert outcomes(report_of(repository, **asked)) == outcomes(report)


@pytest.mark.slow
@isolated
@needs("cargo", "rustc")
def test_crates_come_from_the_mirror_that_the_user_of_this_machine_configured(tmp_path: Path) -> None:
    home = laid_out(tmp_path / "home", {".cargo/config.toml": CARGO_CONFIG})
    repository = tmp_path / "repository"
    files = {name: text for name, text in RUST.items() if not name.startswith(".cargo/")}
    asked: dict[str, Any] = {"kept": tmp_path / "kept", "base": committed(repository, files), "home": home}
    with registries_up() as served:
        report = report_of(repository, **asked, environment_of_service=served.settings)

    assert outcomes(report) == {"src/lib.rs::price": "passed"}
    # Without a network cargo has to know of it as well.
    assert outcomes(report_of(repository, **asked)) == outcomes(report)


@isolated
@needs("cargo", "rustc")
def test_a_package_of_rust_without_dependencies_fetches_nothing(tmp_path: Path) -> None:
    alone = {
        **RUST,
        "Cargo.toml": RUST["Cargo.toml"].partition("[dependencies]")[0],
        ".cargo/config.toml": "",
    }
    base = committed(tmp_path, alone)

    assert not any(each.what.startswith("setup") for each in prepared(tmp_path, base=base).choices)


@isolated
@needs("node")
def test_what_installs_the_packages_and_is_not_here_is_named_with_how_to_get_it(tmp_path: Path) -> None:
    manifest = '{"scripts": {"test": "node --test"}, "dependencies": {"ms": "1"}}'
    base = committed(tmp_path / "repository", {"package.json": manifest, "pnpm-lock.yaml": ""})
    programs = tmp_path / "bin"
    programs.mkdir()
    for each in ("node", "git", "sh", "bwrap"):
        if found := shutil.which(each):
            (programs / each).symlink_to(found)
    error = ask("prepare", tmp_path / "repository", base=base, path=str(programs)).error

    assert error is not None
    assert error.code is ErrorCode.TOOL_NOT_FOUND
    assert "`pnpm-lock.yaml` asks for `pnpm`, not on this machine's PATH: install pnpm (`npm" in error.message


@pytest.mark.slow
@isolated
@needs("ruby", "rake", "bundle", "gem")
def test_gems_are_fetched_once_beside_those_of_the_machine_and_are_there_without_a_network(
    tmp_path: Path,
) -> None:
    repository = tmp_path / "repository"
    asked: dict[str, Any] = {"kept": tmp_path / "kept", "base": committed(repository, RUBY), "home": tmp_path}
    with registries_up(gem_index(tmp_path / "gem")) as served:
        report = report_of(repository, **asked, environment_of_service=served.settings)

    assert outcomes(report) == {"test/price_test.rb::PriceTest > test_price": "passed"}
    assert [each for each in served.asked if each.endswith(".gem")] == [f"{GEMS_HOST}/gems/cents-1.2.0.gem"]
    assert ("setup `bundle check || bundle install`", "Gemfile") in kept_choices(repository, **asked)
    assert outcomes(report_of(repository, **asked)) == outcomes(report)


@pytest.mark.slow
@isolated
@needs("ruby", "rake", "bundle")
def test_gems_of_hosts_that_nobody_allowed_are_told_with_what_would_allow_them(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    files = {**RUBY, "Gemfile": 'source "https://rubygems.org"\ngem "cents"\n'}
    error = ask("prepare", repository, base=committed(repository, files), home=tmp_path).error

    assert error is not None
    assert error.message.startswith(
        "The setup asked for index.rubygems.org:443, which is not among the package registries"
    )
    assert "`COGWORKS_REGISTRY_HOSTS=rubygems.org,index.rubygems.org`" in error.message
    assert "EROFS" not in error.message
    assert "as root" not in error.message
    assert '`command = "rake test"`' in error.message
    assert not error.recoverable
