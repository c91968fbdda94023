"""What a reader has to be told where a file does not say it itself."""

from dataclasses import dataclass

from adamerge.errors import BadInput


@dataclass(frozen=True)
class ReadOptions:
    """How the file of another program is read.

    column       name of the column, or of the array, that holds the vectors; empty for `vectors`
    prompt_rows  rows before and after the patches of every page, which become `extra`; None where there are none, or
                 where the file says which model made it
    """

    column: str = ""
    prompt_rows: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a number of rows."""
        if self.prompt_rows is None:
            return
        rows = self.prompt_rows
        if len(rows) != 2 or not all(isinstance(count, int) and count >= 0 for count in rows):
            raise BadInput(f"prompt_rows are two numbers, before and after, as (4, 7); got {rows}")

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != ReadOptions()

    def __str__(self) -> str:
        """The options as text; empty where nothing is asked for."""
        parts = []
        if self.column:
            parts.append(f"column {self.column}")
        if self.prompt_rows is not None:
            parts.append("prompt rows {},{}".format(*self.prompt_rows))
        return ", ".join(parts)


NO_OPTIONS = ReadOptions()
