"""What is shipped beside the code: prompt templates, exported schemas, prices."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import cogworks
from cogworks.llm.budget import PriceList
from cogworks.llm.prompts import SUFFIX, Prompts


def shipped_prompts(overrides: Mapping[str, str] | None = None, *, knowledge: str = "") -> Prompts:
    """The built-in templates, with the repository's own (stem -> text) before them.

    Raises: ConfigurationError with every template of the repository that does not parse.
    """
    # Parsing them takes longer than all else here, and whoever ships them has tested that they parse.
    return Prompts(_texts("prompts", SUFFIX), overrides, are_known_to_parse=True, knowledge=knowledge)


def shipped_schemas() -> dict[str, str]:
    """Stem -> exported JSON Schema, as it stands in `schemas/`."""
    return _texts("schemas", ".json")


def shipped_prices() -> PriceList:
    """The built-in price list; amounts are read as exact decimals."""
    text = (files("cogworks.llm") / "prices.toml").read_text(encoding="utf-8")
    return PriceList.model_validate(tomllib.loads(text, parse_float=Decimal))


def _texts(folder: str, suffix: str) -> dict[str, str]:
    found = (entry for entry in _folder(folder).iterdir() if entry.name.endswith(suffix))
    return {entry.name.removesuffix(suffix): entry.read_text(encoding="utf-8") for entry in found}


def _folder(name: str) -> Traversable:
    installed = files("cogworks") / name
    # A wheel carries the folder inside the package; a checkout has it beside the package.
    return installed if installed.is_dir() else Path(cogworks.__file__).resolve().parent.parent / name
