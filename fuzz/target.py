"""A target: one door of the program, examples of what comes through it, and how to spoil them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from zipfile import ZipFile

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = CORPUS / "examples.zip"

Try = Callable[[bytes], None]
Mutate = Callable[[Random, list[bytes]], bytes]


@dataclass(frozen=True)
class Target:
    """One door of the program.

    session    gives, for a folder that it may write to, the function that takes an input through the door; what the
               program raises passes through
    mutate     makes an input of some examples
    share      of the time of a campaign, beside the others
    short_run  inputs of the run that is part of the tests
    file_name  what the input is written to, where it is a file; errors must name it
    """

    name: str
    session: Callable[[Path], AbstractContextManager[Try]]
    mutate: Mutate
    share: float = 1
    short_run: int = 300
    file_name: str = ""

    def examples(self) -> list[bytes]:
        """The corpus of the target: its lines, its examples in the archive, and the files of its folder."""
        examples = []
        lines = CORPUS / f"{self.name}.txt"
        if lines.exists():
            examples += lines.read_bytes().splitlines()

        with ZipFile(EXAMPLES) as archive:
            for name in archive.namelist():
                if name.startswith(f"{self.name}/"):
                    examples.append(archive.read(name))

        for path in sorted((CORPUS / self.name).glob("*")):
            examples.append(path.read_bytes())
        return examples

    def make_input(self, examples: list[bytes], seed: int, number: int) -> bytes:
        """Input `number` of a seed: the examples as they are, and then mutations of them without end."""
        if number < len(examples):
            return examples[number]
        return self.mutate(Random(f"{self.name} {seed} {number}"), examples)


def file_target(
    name: str, file_name: str, read: Callable[[Path], None], mutate: Mutate, **more: float
) -> Target:
    """A target whose input is one file."""

    @contextmanager
    def session(folder: Path) -> Iterator[Try]:
        path = folder / file_name

        def try_input(data: bytes) -> None:
            path.write_bytes(data)
            read(path)

        yield try_input

    return Target(name, session, mutate, file_name=file_name, **more)  # type: ignore[arg-type]


def text_target(name: str, read: Callable[[str], None], mutate: Mutate, **more: float) -> Target:
    """A target whose input is a text; bytes that are not UTF-8 become letters that are not either."""

    @contextmanager
    def session(folder: Path) -> Iterator[Try]:
        def try_input(data: bytes) -> None:
            read(data.decode("utf-8", "surrogateescape"))

        yield try_input

    return Target(name, session, mutate, **more)  # type: ignore[arg-type]


def example(name: str) -> bytes:
    """One example of the archive: "pt/list.pt"."""
    with ZipFile(EXAMPLES) as archive:
        return archive.read(name)


def load_target(place: str) -> Target:
    """A target by its place: a module, and the name that the target has there. "fuzz.targets.http:HTTP"."""
    module, _, name = place.partition(":")
    target: Target = getattr(import_module(module), name)
    return target
