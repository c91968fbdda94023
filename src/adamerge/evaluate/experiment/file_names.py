"""Names of encoders, datasets and methods as names of files."""

from urllib.parse import quote


def file_name(text: str) -> str:
    """A name as the name of a file, another one for every text.

    ':' becomes '@', and a character that no file may hold is written as in a URL.
    """
    return quote(text, safe="=,()+ ").replace("%3A", "@")
