"""No module outgrows what a reader takes in at once."""

from pathlib import Path

import cogworks

MOST_LINES = 400
ROOT = Path(cogworks.__file__).parent.parent


def test_no_module_of_the_product_or_of_its_scripts_has_more_than_400_lines() -> None:
    modules = [path for folder in ("cogworks", "scripts") for path in (ROOT / folder).rglob("*.py")]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in modules}

    assert len(sizes) > 100, f"the modules are not below {ROOT}"
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {}
