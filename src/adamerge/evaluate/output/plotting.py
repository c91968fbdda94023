"""The style of all figures, fit for print: colours that the colour-blind can tell apart. Needs the extra `paper`.

Text stays text in SVG, and the same results make the same bytes.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from adamerge.errors import missing_extra

WIDTH = 7.0  # inches: both columns of a page
DPI = 200
# the colours of Okabe and Ito
BLUE, GREEN, ORANGE, RED = "#0072B2", "#009E73", "#E69F00", "#D55E00"
PURPLE, SKY, BLACK, YELLOW = "#CC79A7", "#56B4E9", "#000000", "#F0E442"
GREY = "#777777"
STYLE = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.titlesize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "adamerge",
}
# without a date or a version, so that the same results make the same bytes
METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {"Software": None}}
KINDS = tuple(METADATA)


@contextmanager
def plotting() -> Iterator[Any]:
    """matplotlib.pyplot, with our style."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("drawing", "paper") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):  # type: ignore[arg-type]
        yield plt


def short_encoder(name: str) -> str:
    """The name of an encoder without its owner or folder: colqwen2.5-v0.2 of vidore/colqwen2.5-v0.2."""
    return name.rstrip("/").rpartition("/")[2]


def short_dataset(name: str) -> str:
    """The name of a dataset without what all of a suite share: 2 ESGReports of Vidore2ESGReportsRetrieval."""
    found = re.fullmatch(r"Vidore(\d?)(\w+?)Retrieval(:\w+)?", name)
    if not found:
        return name
    version, task, language = found.groups()
    return f"{version} {task}{language or ''}".strip()


def render_figure(figure: Any, kind: str) -> bytes:
    """A figure as the bytes of an SVG or PNG file; the figure is closed."""
    out = BytesIO()
    with plotting() as plt:
        figure.savefig(
            out,
            format=kind,
            dpi=DPI,
            bbox_inches="tight",
            pad_inches=0.03,
            metadata=METADATA[kind],
        )
        plt.close(figure)
    return out.getvalue()
