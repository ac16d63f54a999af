"""What people hear of the model of a repair."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.repair.instance import Instance
from cogworks.repair.options import ModelChoice, Options
from cogworks.settings.config import read_environment
from cogworks.telling import unknown
from cogworks.wiring.fix_model import Asked, open_model
from cogworks.wiring.fix_order import Order
from tests.asked import question
from tests.model_server import ModelServer, replied


def test_a_model_that_a_repair_waits_for_is_told_of_with_the_silence_that_ends_the_wait(
    tmp_path: Path,
) -> None:
    told: list[str] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = unknown) -> Iterator[None]:
        told.append(f"{what}, {so_far()}")
        yield

    options = Options(model=ModelChoice(name="claude-sonnet-5-5"))
    order = Order(tmp_path, Instance(instance_id="fix", failing_tests=()), options)
    with ModelServer() as server:
        server.answers(replied("{}"))
        environment = read_environment(
            {"ANTHROPIC_API_KEY": "k", "COGWORKS_LLM_BASE_URL": server.url, "HOME": "/nonexistent"}
        )
        with open_model(order, environment, {}, None, during) as asked:
            assert isinstance(asked, Asked)
            asked.log.complete(question())

    assert told == [f"waiting for {question().model}, no word yet; 300 s of silence end it"]
