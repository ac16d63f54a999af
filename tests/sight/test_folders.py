"""How a prompt lists files."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.folders import by_folder

NAMES = st.text(alphabet="abc._-", min_size=1, max_size=6)


def test_files_stand_with_those_of_their_folder_in_the_order_in_which_it_is_met() -> None:
    paths = ["src/shop/cart.py", "setup.py", "tests/test_cart.py", "src/shop/mail.py", "conftest.py"]

    assert by_folder(paths) == "src/shop/: cart.py, mail.py\n./: setup.py, conftest.py\ntests/: test_cart.py"
    assert by_folder([]) == ""


@given(st.lists(st.builds("{}/{}".format, NAMES, NAMES), unique=True, max_size=20))
def test_no_path_is_lost(paths: list[str]) -> None:
    listed = [line.split("/: ") for line in by_folder(paths).splitlines()]

    assert sorted(f"{folder}/{name}" for folder, names in listed for name in names.split(", ")) == sorted(
        paths
    )
