import pytest

from cogworks.forge.inbox import hear
from cogworks.forge.labels import appearance
from cogworks.forge.observe import asked_lane, counting_labels, first_lane
from cogworks.pipeline.people import IgnoredLabel, Inputs
from cogworks.settings.config import parse_config
from cogworks.vocabulary import Login
from tests.world import CONFIG, World


@pytest.mark.parametrize("name", ["cogworks:run", "cogworks:node:failed", "cogworks:node:intake", "bug", ""])
def test_every_label_has_a_colour_and_a_description_that_github_accepts(name: str) -> None:
    color, description = appearance(name)

    assert len(bytes.fromhex(color)) == 3
    assert 0 < len(description) <= 100


def test_a_failed_node_does_not_look_like_one_that_goes_on() -> None:
    assert appearance("cogworks:node:failed") != appearance("cogworks:node:intake")


SMALL = "cogworks:lane:small"
DEFAULT = "cogworks:lane:default"
AUTO = "cogworks:lane:auto"
LARGE = "cogworks:lane:large"
SAFETY = "cogworks:safety-critical"


def asked(*labels: str, lane: str = "", own: bool = False) -> tuple[str, str | None]:
    """What is asked for, and what a new run begins on."""
    world = World(pipeline=None) if not own else World()
    world.labels += labels
    config = parse_config(CONFIG + (f'[pipelines]\nlane = "{lane}"\n' if lane else ""))
    snapshot = world.snapshot()
    return asked_lane(snapshot, config, counting_labels(snapshot, ())), first_lane(snapshot, config, ())


@pytest.mark.parametrize(
    ("labels", "lane", "found"),
    [
        ((), "", ("auto", "default")),
        ((), "default", ("default", "default")),
        ((), "small", ("small", "small")),
        ((SMALL,), "", ("small", "small")),
        ((DEFAULT,), "small", ("default", "default")),
        ((SMALL, DEFAULT), "small", ("default", "default")),
        (("cogworks:lane:smal", "small"), "", ("auto", "default")),
        ((SMALL, SAFETY), "", ("small", "default")),
        ((SAFETY,), "small", ("small", "default")),
        ((), "auto", ("auto", "default")),
        ((AUTO,), "", ("auto", "default")),
        ((AUTO, SMALL), "", ("auto", "default")),
        ((AUTO, DEFAULT), "small", ("default", "default")),
        ((), "large", ("large", "large")),
        ((LARGE, DEFAULT), "", ("large", "large")),
        ((LARGE, SAFETY), "", ("large", "large")),
        ((SMALL,), "large", ("small", "small")),
    ],
)
def test_a_label_goes_before_the_configuration_and_safety_before_both(
    labels: tuple[str, ...], lane: str, found: tuple[str, str]
) -> None:
    assert asked(*labels, lane=lane) == found


def test_a_repository_with_pipelines_of_its_own_has_no_lanes() -> None:
    assert asked(SMALL, own=True) == ("", None)


def test_a_lane_chosen_by_somebody_who_may_not_write_does_not_count() -> None:
    world = World(pipeline=None, permissions={Login("ann"): "triage"})
    world.set_label(SMALL, "e2")
    config = parse_config(CONFIG)

    heard = hear(world.snapshot(), Inputs(), config)

    assert IgnoredLabel(event_id="e2", label=SMALL, by="ann") in heard.ignored_labels
    assert first_lane(world.snapshot(), config, heard.ignored_labels) == "default"
