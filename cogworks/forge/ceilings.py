"""How near a work item is to what GitHub allows: points of the hour, comments of an issue."""

from cogworks.forge.snapshot import Snapshot

LEAST_SHARE = 0.1
"""Of the hour's points; with less left no model is asked, for its answer could not be published."""
MOST_COMMENTS = 2_500
WARN_AT_COMMENTS = 2_000


def too_few_points(snapshot: Snapshot) -> str:
    """Why nothing that costs money should begin now; empty while enough of the hour's points is left, or nobody knows."""
    rate = snapshot.rate
    if rate is None or not rate.limit or rate.remaining >= rate.limit * LEAST_SHARE:
        return ""
    until = f" before {rate.reset_at:%H:%M} UTC" if rate.reset_at else " within the hour"
    return (
        f"{rate.remaining} of the token's {rate.limit} GitHub points of this hour are left, so no model is asked: what it "
        f"answers might not be published. Nothing was claimed; the points do not come back{until}. Run the step again then."
    )


def many_comments(snapshot: Snapshot) -> str:
    """A warning before an issue takes no further comment; empty while there is room."""
    count = len(snapshot.issue.comments)
    if count < WARN_AT_COMMENTS:
        return ""
    return (
        f"{snapshot.issue.url} has {count} comments, and GitHub takes no more than {MOST_COMMENTS}. The status comment will be "
        "kept up to date; commands will have to be given by labels, or the rest of the work moved to a new issue."
    )
