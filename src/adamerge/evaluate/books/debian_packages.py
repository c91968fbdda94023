"""Known manuals by name, from the Debian archive: a package is downloaded and unpacked, never installed."""

from pathlib import Path
from shutil import which
from subprocess import CalledProcessError, run
from tempfile import TemporaryDirectory

from adamerge.errors import BadFile, MissingExtra, UnknownName

LILYPOND = "usr/share/doc/lilypond/html/Documentation"
R = "usr/share/R/doc/manual"

# name -> (package, the PDF in it); of Debian's main only, so all of it may be passed on
BOOKS = {
    "lilypond-learning": ("lilypond-doc-pdf", f"{LILYPOND}/learning.pdf"),
    "lilypond-notation": ("lilypond-doc-pdf", f"{LILYPOND}/notation.pdf"),
    "zsh": ("zsh-doc", "usr/share/doc/zsh-common/zsh.pdf"),
    "octave": ("octave-doc", "usr/share/doc/octave/octave.pdf"),
    "r-exts": ("r-doc-pdf", f"{R}/R-exts.pdf"),
    "r-intro": ("r-doc-pdf", f"{R}/R-intro.pdf"),
}
SUITES = {"books": tuple(BOOKS)}


def fetch_pdf(name: str, folder: Path) -> Path:
    """The PDF of a known manual, downloaded into a folder."""
    if name not in BOOKS:
        known = ", ".join([*BOOKS, *SUITES])
        raise UnknownName(f"no book '{name}'; choose from {known}, or give a PDF file")

    for tool in ("apt-get", "dpkg-deb"):
        if not which(tool):
            raise MissingExtra(
                f"fetching '{name}' needs {tool}, of a Debian or Ubuntu machine: "
                "give a PDF file instead"
            )

    package, pdf = BOOKS[name]
    with TemporaryDirectory(dir=folder) as temporary:
        unpacked = Path(temporary)
        _download_and_unpack(package, unpacked)
        found = unpacked / pdf
        if not found.exists():
            raise BadFile(
                f"the package '{package}' holds no {pdf}: another release? give a PDF file"
            )
        return found.rename(folder / f"{name}.pdf")


def _download_and_unpack(package: str, folder: Path) -> None:
    _run(["apt-get", "download", "-q", package], folder)
    downloaded = next(folder.glob("*.deb"), None)
    if downloaded is None:
        raise BadFile(
            f"apt-get brought no package '{package}': run apt-get update, or give a PDF file"
        )
    _run(["dpkg-deb", "-x", downloaded.name, "."], folder)


def _run(command: list[str], folder: Path) -> None:
    try:
        run(command, cwd=folder, check=True, capture_output=True, text=True)
    except CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines() or [""]
        raise BadFile(f"{' '.join(command)} failed: {lines[-1]}") from None
