"""Trees for the tests of sight."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from cogworks.canonical import sha256
from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.index import Index
from cogworks.sight.store import Store


@dataclass
class MemoryTree:
    """A tree that is only a mapping; obeys `cogworks.sight.index.Tree`."""

    texts: Mapping[str, str]
    history: Sequence[PastCommit] = ()
    said: Mapping[str, Collection[str]] = field(default_factory=dict)
    read_paths: list[str] = field(default_factory=list)

    def files(self) -> Sequence[str]:
        return sorted(self.texts)

    def read(self, path: str) -> str | None:
        self.read_paths.append(path)
        return self.texts.get(path)

    def contents(self) -> Mapping[str, str]:
        return {path: sha256(text) for path, text in self.texts.items()}

    def attributes(self) -> Mapping[str, Collection[str]]:
        return self.said

    def past(self, limit: int) -> Sequence[PastCommit]:
        return self.history[:limit]


def index_of(texts: Mapping[str, str], *history: PastCommit) -> Index:
    """The index of files."""
    return Index(MemoryTree(texts, history), Store())


SHOP: Mapping[str, str] = {
    "README.md": "# Shop\n\nSells things.\n",
    "CHANGES": "1.0\n\n- prices are rounded to cents\n" * 50,
    "LICENSE": "Permission is hereby granted to round prices.\n" * 50,
    "pyproject.toml": '[project]\nname = "shop"\n',
    "CONTRIBUTING.md": "Run the tests with pytest.\n",
    "uv.lock": "price rounding\n" * 200,
    "locale/de/LC_MESSAGES/shop.po": 'msgid "price"\nmsgstr "Preis"\n' * 100,
    "src/shop/__init__.py": "from shop.pricing import rounded\n",
    "src/shop/pricing.py": (
        '"""Prices."""\n\nCENTS = 100\n\n\ndef rounded(price: float) -> float:\n    """The price in whole cents."""\n'
        "    return round(price * CENTS) / CENTS\n"
    ),
    "src/shop/cart.py": (
        '"""The cart."""\n\nfrom shop.pricing import rounded\n\n\nclass Cart:\n    """What is bought."""\n\n'
        "    def total(self) -> float:\n        return rounded(sum(self.rows))\n"
    ),
    "src/shop/mail.py": "def send(to: str) -> None:\n    print(to)\n",
    "tests/test_pricing.py": "from shop.pricing import rounded\n\n\ndef test_rounding() -> None:\n    assert rounded(0.125) == 0.12\n",
    "tests/test_mail.py": "from shop.mail import send\n\n\ndef test_mail() -> None:\n    send('a')\n",
}
