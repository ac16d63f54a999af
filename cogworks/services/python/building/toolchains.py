"""A Rust toolchain that lies below somebody's home, where rustup puts it and no build sees it unless it is told."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from cogworks.services.python.pythons import home_of_user

_LIMIT_S = 20.0
_TOLD = ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN")
_MANIFEST = "Cargo.toml"


def wants_rust(paths: Iterable[str]) -> bool:
    """Whether a repository has something for cargo."""
    return any(path.rpartition("/")[2] == _MANIFEST for path in paths)


def rust_toolchain(search_path: str, settings: Mapping[str, str]) -> Path | None:
    """The folder of the toolchain that `rustc` on a path stands for; None: there is none that runs.

    Args:
        settings: environment of this process, as far as it says where rustup keeps them.
    """
    program = shutil.which("rustc", path=search_path)
    if program is None:
        return None
    told = {"HOME": str(home_of_user()), **{name: settings[name] for name in _TOLD if name in settings}}
    try:
        done = subprocess.run(
            [program, "--print", "sysroot"],
            # Not in the repository: rustup would obey a file there that names a toolchain, and fetch it.
            cwd="/",
            env={"PATH": search_path, **told},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            text=True,
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    folder = Path(done.stdout.removesuffix("\n"))
    return folder if (folder / "bin" / "cargo").is_file() else None
