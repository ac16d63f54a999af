"""How long what somebody approved is good for, by GitHub's clocks alone."""

from datetime import datetime, timedelta


def lapsed(written: datetime | None, *, now: datetime | None, valid_hours: int) -> str:
    """Since when an approval no longer counts, in words for people; empty while it does.

    Args:
        written: when GitHub says that the approval was written; None: nobody knows.
        now: what GitHub's clock says; None: nobody knows.
        valid_hours: 0 = for ever.
    """
    if not valid_hours or written is None or now is None:
        return ""
    if now - written <= timedelta(hours=valid_hours):
        return ""
    return (
        f"it was written at {written:%Y-%m-%d %H:%M} UTC and counts for {valid_hours} hour(s) "
        "(`approvals.valid_hours`), which are over"
    )
