"""A small store for servers, with names and metadata that would like to be HTML."""

from light import Light, write_pdf

import adamerge as am
from adamerge.store.index import Indexing, index_files

TOKEN = "a secret of many letters"
HOSTILE = "<img src=x onerror=alert(1)>"


def make_store(folder):
    """A store of two PDFs in a folder whose name must never be sent."""
    write_pdf(folder / "private-folder" / "report.pdf", ["alpha beta gamma", "delta epsilon zeta"])
    write_pdf(folder / "private-folder" / f"{HOSTILE}.pdf", [f"omega {HOSTILE}"])
    with am.open_store(folder / "pages.store") as store:
        how = Indexing(Light(), "adamerge:k=none")
        list(
            index_files(
                [folder / "private-folder"],
                store,
                how,
                {"report.pdf": {"year": 2026, "note": HOSTILE}},
            )
        )
    return folder / "pages.store"


def pdf_of(tmp_path, *texts):
    """The bytes of a PDF with a line of words per page."""
    return write_pdf(tmp_path / "made.pdf", texts).read_bytes()
