"""Names of methods, as they come from the command line, results and stores."""

from adamerge import parse_method
from fuzz.mutators import text_mutator
from fuzz.target import text_target

WORDS = (
    *(
        "adamerge",
        "adamerge-mean",
        "docpruner",
        "sem-cluster",
        "ptm",
        "ptm-attn",
        "random",
        "identity",
        "height",
    ),
    *(
        "k",
        "m",
        "c_min",
        "keep",
        "seed",
        "unit",
        "cut",
        "stats",
        "linkage",
        "rounding",
        "sequence",
        "importance",
    ),
    *(
        "=",
        ":",
        ",",
        "cliff",
        "floor",
        "iqr",
        "plain",
        "rows",
        "condensed",
        "density",
        "raw",
        "true",
        "none",
    ),
)


def read(name: str) -> None:
    """What a name says must be what its method writes."""
    method = parse_method(name)
    if parse_method(str(method)) != method:
        raise AssertionError(f"{method} does not read back")


TARGET = text_target("methods", read, text_mutator(WORDS), share=1, short_run=3000)
