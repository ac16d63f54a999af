"""Whether a sweep plays every one of its cases, or a selection that covers each kind of them.

`./scripts/test --all` plays the selections; `./scripts/test --exhaustive` everything, which takes hours.
"""

import os

IS_EXHAUSTIVE = bool(os.environ.get("COGWORKS_TESTS_EXHAUSTIVE"))
