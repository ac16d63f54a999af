"""What a repair is asked to do."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from cogworks.repair.instance import Instance
from cogworks.repair.options import Options


@dataclass(frozen=True)
class Order:
    """What is to be repaired, where."""

    repository: Path
    instance: Instance
    options: Options
    suite: tuple[str, ...] = ()
    """Files and folders whose tests are the whole suite; none: what the runner finds."""
    command: str = ""
    words: tuple[str, ...] = ()
    """What of the command the services have to keep; none: their own way."""
    is_offline: bool = False
    """Whether no model is asked, whatever is configured."""
    max_cost_usd: Decimal | None = None
    """Less than the repository's own budget; None: that alone counts."""
    with_uncommitted: bool = False
    """Whether the repair starts at the checkout as it lies there; else at a commit."""
