"""Which replies has a visit paid for, as the ledger keeps them?"""

from collections.abc import Mapping

from pydantic import ValidationError

from cogworks.ledger.record import LedgerUnreadable
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import BROKEN_OFF, ModelReply


def replies_in(folder: str, files: Mapping[str, str]) -> dict[str, ModelReply]:
    """The paid replies that a visit's folder holds, by request key.

    Raises:
        LedgerUnreadable: one of them is not a reply.
    """
    # What came of a reply that broke off is paid for and answers nothing.
    return {
        record.request_key: record.reply
        for record in records_in(folder, files)
        if record.reply.stop_reason != BROKEN_OFF
    }


def records_in(folder: str, files: Mapping[str, str]) -> tuple[ReplyRecord, ...]:
    """What a visit's folder holds of paid replies, in the order they came.

    Raises:
        LedgerUnreadable: one of them is not a reply.
    """
    paths = [path for path in files if path.startswith(f"{folder}/reply-")]
    # The second comes before the tenth.
    return tuple(_record_in(path, files[path]) for path in sorted(paths, key=lambda path: (len(path), path)))


def _record_in(path: str, text: str) -> ReplyRecord:
    try:
        return ReplyRecord.model_validate_json(text)
    except ValidationError as error:
        raise LedgerUnreadable(
            f"`{path}` of the item's ledger is not a recorded reply ({error.error_count()} problem(s)). "
            "Restore it with `git revert` on that branch; nothing was published."
        ) from None
