from cogworks.engine.report import with_created
from cogworks.forge.publication import Published, PublishedIssue, RefusedIssue
from cogworks.nodes.contract import Succeeded
from cogworks.vocabulary import IssueNumber


def test_the_record_says_which_were_created_and_which_were_refused() -> None:
    wanted = Succeeded(output={"issues": [{}, {}]}, summary="2 follow-up issue(s) to create")
    published = Published(
        issues=(PublishedIssue(key="issue-1", number=IssueNumber(31), node_id="I", url="u"),),
        refused_issues=(RefusedIssue(key="issue-2", reason="GitHub refused"),),
    )

    told = with_created(wanted, published)

    assert isinstance(told, Succeeded)
    assert told.summary == "follow-up issues created: #31; 1 refused: GitHub refused"
    assert told.output["created"] == [{"key": "issue-1", "number": 31, "url": "u"}]
    assert told.output["refused"] == [{"key": "issue-2", "reason": "GitHub refused"}]
