"""Which definitions other files may use: the rules of languages."""

import re
from collections.abc import Callable

from cogworks.grammars.spec import Visible

Rule = Callable[[Visible], bool]


def always(_: Visible) -> bool:
    """There is no word for it."""
    return True


def capitalised(each: Visible) -> bool:
    """Go."""
    return each.name[:1].isupper()


def exported(each: Visible) -> bool:
    """Scripts: what is exported, and the members of it that are not private."""
    if each.kind == "test":
        return False
    if each.around in ("", "namespace", "module"):
        return each.is_exported
    return not re.match(r"(?:\w+\s+)*?(?:private|protected)\b", each.header) and not each.name.startswith("#")


def marked_pub(each: Visible) -> bool:
    """Rust; the members of a trait and variants are as public as it is."""
    return each.around in ("trait", "enum") or bool(
        re.match(r"(?:#\[.*\]\s*)*pub\b(?!\s*\((?:crate|self|super|in)\b)", each.header)
    )


def marked_public(each: Visible) -> bool:
    """Java and C#: by the word; members of interfaces and enumerations without one."""
    words = _modifiers(each)
    if each.kind == "namespace":
        return True
    if each.around in ("interface", "enum", "annotation"):
        return "private" not in words
    return "public" in words or "protected" in words


def not_private(each: Visible) -> bool:
    """PHP."""
    return not {"private", "protected"} & set(_modifiers(each))


def by_access(each: Visible) -> bool:
    """Ruby: what stands below `private` is."""
    return each.access not in ("private", "protected") and not re.match(r"private\b", each.header)


def by_linkage(each: Visible) -> bool:
    """C and C++: what is not `static` or below `private:`; a class without such a word keeps its members to itself."""
    if each.around in ("class", "struct", "union"):
        word = each.access or ("private" if each.around == "class" else "public")
        return not word.startswith("private")
    return not re.match(r"(?:\w+\s+)*?static\b", each.header)


def _modifiers(each: Visible) -> list[str]:
    """The words before the name, without what stands in brackets."""
    head = each.header.partition(each.name)[0] if each.name in each.header else each.header
    return re.findall(r"\w+", re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", head))
