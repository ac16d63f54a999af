"""A wheel is read as data: nothing in it leads out, and no archive is too odd."""

import io
import stat
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.building.wheel import UnusableWheel, read_wheel

ABOUT = "shop-1.dist-info"


def archived(files: dict[str, bytes], *, mode: int = 0) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, content in {f"{ABOUT}/METADATA": b"Name: shop\n", **files}.items():
            entry = zipfile.ZipInfo(path)
            if mode and path in files:
                entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return data.getvalue()


def test_metadata_modules_and_programs_are_told_apart() -> None:
    found = read_wheel(
        archived(
            {
                "shop/cart.py": b"x = 1\n",
                "shop-1.data/scripts/sell": b"#!python\n",
                "shop-1.data/platlib/shop/fast.so": b"elf",
                "shop-1.data/data/etc/passwd": b"no",
            }
        )
    )

    assert list(found.metadata) == [f"{ABOUT}/METADATA"]
    assert found.modules == {"shop/cart.py": b"x = 1\n", "shop/fast.so": b"elf"}
    assert found.scripts == {"sell": b"#!python\n"}


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../x.py", "shop/../../x.py", "shop\\x.py", "./x.py", "shop//x.py"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UnusableWheel, match="which no file may have"):
        read_wheel(archived({name: b""}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_what_is_no_regular_file_is_refused(kind: int) -> None:
    with pytest.raises(UnusableWheel, match="which no file may have"):
        read_wheel(archived({"shop/link": b"/etc/passwd"}, mode=kind | 0o777))


def test_what_unpacks_to_too_much_is_refused() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{ABOUT}/METADATA", "")
        archive.writestr("shop/bomb", bytes(3_000_000))

    assert len(data.getvalue()) < 10_000
    with pytest.raises(UnusableWheel, match="more than 1000000 bytes"):
        read_wheel(data.getvalue(), max_bytes=1_000_000)


def test_a_wheel_without_metadata_is_none() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("shop/cart.py", "")

    with pytest.raises(UnusableWheel, match="without metadata"):
        read_wheel(data.getvalue())


@given(st.binary(max_size=400), st.integers(0, 300))
def test_no_archive_is_too_odd(noise: bytes, at: int) -> None:
    whole = archived({"shop/cart.py": b"x = 1\n"})
    for data in (noise, whole[:at], whole[:at] + noise + whole[at:]):
        with suppress(UnusableWheel):
            assert read_wheel(data).metadata
