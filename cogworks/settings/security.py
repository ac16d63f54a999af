"""The sections `[isolation]` and `[security]`: how code and texts of others are met."""

from typing import Literal

from cogworks.vocabulary import Value


class IsolationConfig(Value):
    """`[isolation]`: whose items run code of the repository only in complete isolation."""

    require: Literal["untrusted", "always"] = "untrusted"
    """`untrusted`: safety-critical items, and those whose author may not write here."""


class SecurityConfig(Value):
    """`[security]`: what happens where a text of people gives orders to the model."""

    injection: Literal["hold", "mark"] = "hold"
    """`hold`: the item waits until somebody with write permission says why the text may be used; `mark`: it is only marked where a
    model reads it."""
