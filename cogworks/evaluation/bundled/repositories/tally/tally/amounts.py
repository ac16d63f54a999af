"""Amounts of money as text."""


def parse(text):
    """The amount in cents: `1,250.50` is 125050, and what stands in parentheses is owed."""
    text = text.strip()
    is_owed = text.startswith("(") and text.endswith(")")
    if is_owed:
        text = text[1:-1]
    whole, _, cents = text.replace(",", "").partition(".")
    amount = int(whole) * 100 + int(cents or 0)
    return -amount if is_owed else amount
