"""Known books by name, from the Debian archive: the package is downloaded and unpacked, never installed."""

from pathlib import Path
from shutil import which
from subprocess import CalledProcessError, run
from tempfile import TemporaryDirectory

from adamerge.errors import BadFile, MissingExtra, UnknownName

LILYPOND = "usr/share/doc/lilypond/html/Documentation"
R = "usr/share/R/doc/manual"

# name -> (package, the PDF in it); main only, so all of it may be passed on
BOOKS = {
    "lilypond-learning": ("lilypond-doc-pdf", f"{LILYPOND}/learning.pdf"),
    "lilypond-notation": ("lilypond-doc-pdf", f"{LILYPOND}/notation.pdf"),
    "zsh": ("zsh-doc", "usr/share/doc/zsh-common/zsh.pdf"),
    "octave": ("octave-doc", "usr/share/doc/octave/octave.pdf"),
    "r-exts": ("r-doc-pdf", f"{R}/R-exts.pdf"),
    "r-intro": ("r-doc-pdf", f"{R}/R-intro.pdf"),
}
SUITES = {"books": tuple(BOOKS)}


def fetch(name: str, folder: Path) -> Path:
    """The PDF of a known book, downloaded into a folder."""
    if name not in BOOKS:
        raise UnknownName(
            f"no book '{name}'; choose from {', '.join([*BOOKS, *SUITES])}, or give a PDF file"
        )
    for tool in ("apt-get", "dpkg-deb"):
        if not which(tool):
            raise MissingExtra(
                f"fetching '{name}' needs {tool}, of a Debian or Ubuntu machine: give a PDF file instead"
            )
    package, pdf = BOOKS[name]
    with TemporaryDirectory(dir=folder) as temporary:
        _call(["apt-get", "download", "-q", package], Path(temporary))
        archive = next(Path(temporary).glob("*.deb"), None)
        if archive is None:
            raise BadFile(
                f"apt-get brought no package '{package}': run apt-get update, or give a PDF file"
            )
        _call(["dpkg-deb", "-x", archive.name, "."], Path(temporary))
        found = Path(temporary, pdf)
        if not found.exists():
            raise BadFile(
                f"the package '{package}' holds no {pdf}: another release? give a PDF file"
            )
        return found.rename(folder / f"{name}.pdf")


def _call(words: list[str], folder: Path) -> None:
    try:
        run(words, cwd=folder, check=True, capture_output=True, text=True)
    except CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines() or [""]
        raise BadFile(f"{' '.join(words)} failed: {last[-1]}") from None
