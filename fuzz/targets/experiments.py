"""Experiments in TOML. `modules` names Python files to run, and is not for strangers: such inputs are passed over."""

from pathlib import Path

from adamerge.evaluate import read_experiment
from fuzz.mutators import text_mutator
from fuzz.target import file_target

WORDS = (
    *(
        "encoders",
        "datasets",
        "options",
        "methods",
        "controls",
        "[[methods]]",
        "[[controls]]",
        "[options]",
    ),
    *("name", "of", "k", "c_min", "unit", "=", '"', "[", "]", "{", "}", ",", "\n", "'''", "#", "."),
    *('"adamerge"', '"random"', '"merge-total"', "-0.25", "false", "1979-05-27", "0x10", "inf"),
)


def read(path: Path) -> None:
    """Read the experiment, but run no file that it names."""
    if b"modules" not in path.read_bytes():
        read_experiment(path)


TARGET = file_target("experiments", "input.toml", read, text_mutator(WORDS), share=1, short_run=500)
