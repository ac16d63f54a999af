"""What can go wrong, as types."""


class DurationError(ValueError):
    """A duration cannot be used as asked."""


class ParseError(DurationError):
    """A text is not a duration.

    `text` is the whole text; `position` is where reading stopped, counted from 0.
    """

    def __init__(self, message: str, text: str, position: int = 0) -> None:
        super().__init__(f"{message} in {text!r}")
        self.text = text
        self.position = position
