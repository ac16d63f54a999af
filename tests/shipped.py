"""Our prompts, read once for all tests of a process: nobody changes them, and to read them takes longer than most tests."""

from functools import cache

from cogworks.llm.package_data import shipped_prompts
from cogworks.llm.prompts import Prompts


@cache
def prompts() -> Prompts:
    return shipped_prompts()
