"""What the machine under the tests has: its isolation, its installers, and Pythons to ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from cogworks.services.python.pythons import Interpreter
from cogworks.services.sandbox.probing import strongest
from tests.limits import ENDS_WITHIN_S

HERE = strongest(os.environ["PATH"])
WITHOUT_UV = os.pathsep.join(
    each for each in os.environ["PATH"].split(os.pathsep) if shutil.which("uv", path=each) is None
)
WITH_UV = os.pathsep.join([str(Path(sys.executable).parent), WITHOUT_UV])
"""uv comes with what the tests need."""


def printed(interpreter: Interpreter, code: str) -> str:
    """What a Python prints."""
    done = subprocess.run(
        [interpreter.python, "-c", code], capture_output=True, check=True, text=True, timeout=ENDS_WITHIN_S
    )
    return done.stdout.strip()
