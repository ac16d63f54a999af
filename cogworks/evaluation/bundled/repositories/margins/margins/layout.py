"""Several lines next to and below each other."""


def widest(lines):
    """How wide the widest of the lines is."""
    width = len(lines[0])
    for line in lines[1:]:
        width = max(width, len(line))
    return width


def boxed(text):
    """The text with a frame around it."""
    lines = text.splitlines()
    width = widest(lines)
    edge = "+" + "-" * (width + 2) + "+"
    body = [f"| {line.ljust(width)} |" for line in lines]
    return "\n".join([edge, *body, edge])
