import threading

import pytest

from cogworks.repair.probe.schedule import AskedOnce
from tests.limits import ENDS_WITHIN_S


def test_a_question_is_asked_once_though_several_wait_for_its_answer() -> None:
    shared, asked, found = AskedOnce(), list[str](), list[str]()
    may_answer = threading.Event()

    def ask() -> str:
        asked.append("asked")
        assert may_answer.wait(60)
        return "answer"

    threads = [threading.Thread(target=lambda: found.append(shared.answer("q", ask))) for _ in range(4)]
    for thread in threads:
        thread.start()
    may_answer.set()
    for thread in threads:
        thread.join(timeout=ENDS_WITHIN_S)

    assert (asked, found) == (["asked"], ["answer"] * 4)
    assert shared.answer("other", lambda: 2) == 2


def test_a_failure_is_told_and_not_remembered() -> None:
    shared = AskedOnce()

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        shared.answer("q", fail)
    assert shared.answer("q", lambda: "yes") == "yes"
