"""`scripts/live-check`: asks a live GitHub what no document settles, and prints a table."""

import json
import os
import secrets
import sys

import click
import httpx

from cogworks.errors import CogworksError
from cogworks.forge.addresses import api_addresses, parse_repository_url
from tests.live.questions import QUESTIONS, Question
from tests.live.scratch import Scratch


@click.command("live-check")
@click.argument("repository_url")
@click.option("--scratch", is_flag=True, help="Yes, branches, issues and a ruleset may be made there.")
@click.option(
    "--token-from",
    default="COGWORKS_GITHUB_TOKEN",
    show_default=True,
    metavar="NAME",
    help="The environment variable that holds the token.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def main(repository_url: str, scratch: bool, token_from: str, as_json: bool) -> None:
    """Ask the GitHub of REPOSITORY_URL, a repository made for this, every open question of the protocol.

    It removes the branches, refs and labels it makes, and closes its issues and pull requests.

    \b
    Example:
      COGWORKS_GITHUB_TOKEN=… scripts/live-check https://github.com/octo-org/scratch --scratch
    """
    token = os.environ.get(token_from)
    if not scratch or not token:
        missing = f"set {token_from} to a token" if scratch else "it writes there: confirm with --scratch"
        raise click.UsageError(f"{repository_url}: {missing}.")
    try:
        address = parse_repository_url(repository_url)
    except CogworksError as error:
        raise click.UsageError(str(error)) from error
    apis = api_addresses(address.server_url)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    with httpx.Client(headers=headers, timeout=15) as http:
        asked = Scratch(
            rest_url=apis.rest_url,
            graphql_url=apis.graphql_url,
            repository=address.full_name,
            stamp=secrets.token_hex(4),
            http=http,
            pause_s=1.0 if apis.is_github_com else 0.0,
        )
        try:
            asked.look()
        except (LookupError, httpx.HTTPError) as error:
            raise click.ClickException(str(error)) from error
        try:
            answers = [(question, _answer(question, asked)) for question in QUESTIONS]
        finally:
            left = asked.clean()
    _tell(answers, left, as_json)
    sys.exit(1 if left else 0)


def _answer(question: Question, scratch: Scratch) -> str:
    try:
        return question.ask(scratch)
    except httpx.HTTPError as error:
        return f"not answered: {type(error).__name__}"
    except (KeyError, TypeError, ValueError) as error:
        # The table is worth more with one hole in it than not at all.
        return f"not answered as expected: {type(error).__name__} {error}"


def _tell(answers: list[tuple[Question, str]], left: list[str], as_json: bool) -> None:
    if as_json:
        rows = [
            {"topic": question.topic, "question": question.text, "answer": answer, "how": question.how}
            for question, answer in answers
        ]
        click.echo(json.dumps({"answers": rows, "left_behind": left}))
        return
    for question, answer in answers:
        click.echo(f"{question.topic:<13} {question.text}")
        click.echo(f"{'':<13} = {answer}")
        click.echo(f"{'':<13}   ({question.how})")
    for what in left:
        click.echo(f"left behind: {what}", err=True)


if __name__ == "__main__":
    main()
