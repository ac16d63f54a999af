"""Where the modules of a wheel lie in the repository, and what only the build made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.building.wheel import placed


def modules(*paths: str) -> dict[str, bytes]:
    return dict.fromkeys(paths, b"")


@pytest.mark.parametrize("folder", ["", "src", "lib/python", "packages/core/src"])
def test_the_folder_of_a_package_is_found_wherever_it_is(folder: str) -> None:
    below = f"{folder}/" if folder else ""
    files = [f"{below}shop/__init__.py", f"{below}shop/cart.py", "tests/test_cart.py", "pyproject.toml"]

    found = placed(modules("shop/__init__.py", "shop/cart.py", "shop/_version.py"), files)

    assert found.sources == (folder,)
    assert list(found.made) == [f"{below}shop/_version.py"]
    assert found.unplaced == ()


def test_a_copy_of_the_package_elsewhere_is_no_home_of_it() -> None:
    files = ["examples/vendored/shop/__init__.py", "src/shop/__init__.py", "src/shop/cart.py"]

    assert placed(modules("shop/__init__.py", "shop/cart.py"), files).sources == ("src",)


def test_several_packages_and_single_modules_have_a_folder_each() -> None:
    files = ["src/shop/__init__.py", "src/shop/cart.py", "tools/till.py", "till_data.txt"]

    found = placed(modules("shop/__init__.py", "shop/cart.py", "till.py"), files)

    assert found.sources == ("src", "tools")


def test_a_namespace_package_is_found_by_its_files() -> None:
    files = ["src/acme/shop/cart.py", "src/acme/shop/__init__.py"]

    assert placed(modules("acme/shop/cart.py", "acme/shop/__init__.py"), files).sources == ("src",)


def test_an_extension_of_its_own_lies_beside_the_others() -> None:
    files = ["src/shop/__init__.py", "src/_fast.c"]

    found = placed(modules("shop/__init__.py", "_fast.cpython-311.so"), files)

    assert list(found.made) == ["src/_fast.cpython-311.so"]


def test_a_package_that_the_build_puts_together_is_named_and_not_laid_out() -> None:
    files = ["code/cart.py", "code/main.py"]

    found = placed(modules("shop/start.py", "shop/more.py"), files)

    assert (found.sources, found.unplaced, dict(found.made)) == ((), ("shop",), {})


NAMES = st.lists(st.sampled_from(["a", "b", "src", "shop"]), min_size=1, max_size=3).map(
    lambda parts: "/".join(parts) + "/x.py"
)


@given(st.sets(NAMES), st.sets(NAMES))
def test_what_the_build_made_is_never_a_file_of_the_repository(wheel: set[str], files: set[str]) -> None:
    found = placed(modules(*wheel), files)

    assert not set(found.made) & files
    assert all(f"{folder}/".startswith(("src/", "a/", "b/", "shop/", "/")) for folder in found.sources)
