"""`scripts/bench tokens`: what each node of the demonstration asks, in tokens and dollars, by its recorded replies."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from cogworks.demo.facts import cassette_folder
from cogworks.llm.budget import shipped_prices
from cogworks.llm.cassette_files import Recording
from cogworks.llm.costtree import Costs
from cogworks.llm.providers.cassette import Cassette

NODES: Mapping[str, str] = {
    "intake": "Intake",
    "architecture": "Architecture",
    "interface_design": "Interface Design",
    "planning": "Planning",
    "write_tests": "Code Generation, tests",
    "implementation": "Code Generation, code",
    "review": "Review",
}
"""Prompt -> who asks it, in the order of the pipeline."""
ALL = "all"


class Row(NamedTuple):
    """What one node asked."""

    node: str
    costs: Costs

    @property
    def uncached(self) -> int:
        """Input tokens that are read anew."""
        usage = self.costs.usage
        return usage.input_tokens + usage.cache_creation_input_tokens

    def told(self) -> str:
        usage = self.costs.usage
        return (
            f"| {self.node} | {self.costs.calls} | {self.uncached} | {usage.cache_read_input_tokens} "
            f"| {self.costs.cached_share:.0%} | {usage.output_tokens} | {self.costs.cost_usd:.3f} |"
        )


def rows(recordings: Iterable[Recording]) -> list[Row]:
    """One for each node, and their sum."""
    prices = shipped_prices()
    found = dict.fromkeys(NODES, Costs())
    for each in recordings:
        prompt = each.purpose.partition("-")[0]
        reply = each.reply
        price = prices.price_of(reply.model)
        found["review" if prompt.startswith("review") else prompt] += Costs(
            calls=1, usage=reply.usage, cost_usd=price.cost_of(reply.usage)
        )
    asked = [Row(NODES[prompt], costs) for prompt, costs in found.items() if costs.calls]
    return [*asked, Row(ALL, sum((row.costs for row in asked), Costs()))]


def table(found: Sequence[Row]) -> str:
    """As Markdown."""
    head = "| node | questions | input, read anew | input, from the cache | cached share | output | dollars |"
    return "\n".join((head, "|---|---|---|---|---|---|---|", *(row.told() for row in found)))


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path | None) -> None:
    """Print the sums of the recordings in FOLDER; those of the demonstration's feature where none is named."""
    click.echo(table(rows(Cassette(folder or Path(str(cassette_folder()))).recordings())))


if __name__ == "__main__":
    main()
