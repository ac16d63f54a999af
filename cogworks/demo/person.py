"""What the person of the demonstration does, over the same REST API that a browser or a script would use."""

import github as pygithub
from github.ContentFile import ContentFile
from github.Repository import Repository

from cogworks.demo.facts import AUTHOR, FULL_NAME, ISSUE, ISSUE_NUMBER, TRIGGER, sample_files, sample_issue
from cogworks.demo.stage import Stage
from cogworks.vocabulary import Value


class PullSeen(Value):
    """A pull request as the person sees it."""

    number: int
    title: str
    state: str
    url: str
    head: str
    diff: str


class Person:
    """Somebody with admin permission: writes the issue, sets the label, merges at gates."""

    def __init__(self, stage: Stage) -> None:
        self._api = pygithub.Github(
            auth=pygithub.Auth.Token(stage.person_token),
            base_url=stage.api_url,
            lazy=True,
            seconds_between_requests=None,
            seconds_between_writes=None,
            retry=None,
        )
        self.repository: Repository = self._api.get_repo(FULL_NAME)
        """The sample repository, over this person's token."""

    def close(self) -> None:
        self._api.close()

    def write_issue(self, name: str = ISSUE) -> str:
        """Open the issue in that file of the sample unless it is there; its URL."""
        for issue in self.repository.get_issues(state="all"):
            if issue.number == ISSUE_NUMBER:
                return issue.html_url
        sample = sample_issue(name)
        return self.repository.create_issue(title=sample.title, body=sample.body).html_url

    def write_beside(self, name: str) -> str | None:
        """Open another issue, in that file of the sample, unless it is there; its URL, None where it was."""
        sample = sample_issue(name)
        if any(issue.title == sample.title for issue in self.repository.get_issues(state="all")):
            return None
        return self.repository.create_issue(title=sample.title, body=sample.body).html_url

    def move_base(self, folder: str) -> bool:
        """Put the files below that folder of the sample on the default branch; False where they are there already."""
        moved = False
        for path, text in sample_files(folder).items():
            current = self._blob(path)
            if current is not None and current.decoded_content.decode() == text:
                continue
            message = f"Read digits of ASCII alone ({path})"
            if current is None:
                self.repository.create_file(path, message, text)
            else:
                self.repository.update_file(path, message, text, current.sha)
            moved = True
        return moved

    def sees_conflict(self) -> bool:
        """Whether an open pull request cannot be merged, or GitHub does not know yet."""
        numbers = [pull.number for pull in self.repository.get_pulls(state="open")]
        return any(self.repository.get_pull(number).mergeable is not True for number in numbers)

    def _blob(self, path: str) -> ContentFile | None:
        try:
            contents = self.repository.get_contents(path)
        except pygithub.UnknownObjectException:
            return None
        return None if isinstance(contents, list) else contents

    def set_trigger(self, *further: str) -> bool:
        """Set the trigger label, after the further ones; False when it is there already."""
        issue = self.repository.get_issue(ISSUE_NUMBER)
        if any(label.name == TRIGGER for label in issue.get_labels()):
            return False
        issue.add_to_labels(*further, TRIGGER)
        return True

    def say(self, text: str) -> None:
        """A comment on the issue."""
        self.repository.get_issue(ISSUE_NUMBER).create_comment(text)

    def said(self) -> tuple[str, ...]:
        """This person's comments on the issue, oldest first."""
        comments = self.repository.get_issue(ISSUE_NUMBER).get_comments()
        return tuple(comment.body for comment in comments if comment.user.login == AUTHOR)

    def merge(self, number: int) -> str:
        """Merge a pull request as it is now; its title. One that is merged already stays so."""
        pull = self.repository.get_pull(number)
        if not pull.merged:
            pull.merge(sha=pull.head.sha, merge_method="merge")
        return pull.title

    def approve(self, number: int) -> str:
        """A review that approves a pull request as it is now; its title."""
        pull = self.repository.get_pull(number)
        pull.create_review(commit=self.repository.get_commit(pull.head.sha), event="APPROVE")
        return pull.title

    def pull_requests(self) -> tuple[PullSeen, ...]:
        """Every pull request, oldest first, with its diff."""
        return tuple(
            PullSeen(
                number=pull.number,
                title=pull.title,
                state="merged" if pull.merged else pull.state,
                url=pull.html_url,
                head=pull.head.ref,
                diff="\n".join(
                    f"--- {changed.filename} ({changed.status}, +{changed.additions} -{changed.deletions})\n{changed.patch or ''}"
                    for changed in pull.get_files()
                ),
            )
            for pull in self.repository.get_pulls(state="all", sort="created", direction="asc")
        )

    def sub_issues(self) -> tuple[tuple[int, str], ...]:
        """Number and title of the issue's sub-issues."""
        issue = self.repository.get_issue(ISSUE_NUMBER)
        return tuple((sub_issue.number, sub_issue.title) for sub_issue in issue.get_sub_issues())

    def waiting_parts(self) -> tuple[str, ...]:
        """The URLs of the sub-issues that open issues block."""
        issue = self.repository.get_issue(ISSUE_NUMBER)
        blocked = []
        for sub_issue in issue.get_sub_issues():
            _, others = self._api.requester.requestJsonAndCheck(
                "GET", f"{sub_issue.url}/dependencies/blocked_by"
            )
            if any(other["state"] == "open" for other in others):
                blocked.append(sub_issue.html_url)
        return tuple(blocked)

    def mermaid(self) -> str:
        """The Mermaid source in the status comment."""
        for comment in self.repository.get_issue(ISSUE_NUMBER).get_comments():
            _, fence, rest = comment.body.partition("```mermaid\n")
            if fence:
                return rest.partition("```")[0].rstrip()
        return ""
