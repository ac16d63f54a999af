"""The table `[environment]` of `.cogworks/config.toml`: with what the code of a repository is run."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from cogworks.vocabulary import Value

SETUP_SCRIPT = "setup.sh"
"""Below `.cogworks` on the default branch: run as the last of the setup commands."""
EnvironmentMode = Literal["made", "prepared"]


class EnvironmentConfig(Value):
    """`[environment]`; `environment = "prepared"` is short for `mode = "prepared"`."""

    mode: EnvironmentMode = "made"
    """`made`: cogworks installs what the repository declares; `prepared`: an earlier step of this machine did."""
    python: str = ""
    """The version of Python to use, e.g. `3.12`; in `prepared` mode the path of the interpreter. Empty: found."""
    install: Literal["auto", "never"] = "auto"
    """Whether the project itself is built and installed where it declares how."""
    extras: tuple[str, ...] | None = None
    """Extras of the project to install; None: those that its tests use."""
    groups: tuple[str, ...] | None = None
    """Dependency groups to install (PEP 735, Poetry, PDM, Hatch); None: those that its tests use."""
    requirements: tuple[str, ...] | None = None
    """Requirements files to install; None: those that its tests use."""
    packages: tuple[str, ...] = ()
    """Packages to install besides, as requirements (PEP 508)."""
    setup: tuple[str, ...] = ()
    """Commands, each a line for `sh`, run once for each content of setup, manifests and lock files."""
    variables: Mapping[str, str] = Field(default_factory=dict)
    """Variables for setup and tests."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, given: Any) -> Any:
        return {"mode": given} if isinstance(given, str) else given
