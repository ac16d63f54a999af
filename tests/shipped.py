"""Our prompts, read once for all tests of a process: nobody changes them, and to read them takes longer than most tests."""

from functools import cache

from cogworks.llm.prompts import Prompts, shipped_prompts


@cache
def prompts() -> Prompts:
    return shipped_prompts()
