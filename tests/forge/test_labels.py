import pytest

from cogworks.forge.labels import appearance


@pytest.mark.parametrize("name", ["cogworks:run", "cogworks:node:failed", "cogworks:node:intake", "bug", ""])
def test_every_label_has_a_colour_and_a_description_that_github_accepts(name: str) -> None:
    color, description = appearance(name)

    assert len(bytes.fromhex(color)) == 3
    assert 0 < len(description) <= 100


def test_a_failed_node_does_not_look_like_one_that_goes_on() -> None:
    assert appearance("cogworks:node:failed") != appearance("cogworks:node:intake")
