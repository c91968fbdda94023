"""Text as SQL writes it."""


def quoted(text: str) -> str:
    """A string of SQL: in single quotes, those inside it doubled."""
    return "'" + text.replace("'", "''") + "'"
