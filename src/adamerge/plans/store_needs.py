"""A row of a plan -> what it asks of a store: memory, Qdrant's limit, and the time to build and to search."""

from dataclasses import dataclass
from typing import Any

from adamerge.codes import bytes_per_row
from adamerge.plans.frontier import PlanRow
from adamerge.plans.speeds import load_speeds
from adamerge.store.limits import QDRANT_DTYPES, QDRANT_NUMBERS, SIGNS_FROM

MILLION = 1_000_000
HOUR = 3600
WITH_SIGN_PLANES = ("int4", "int2")  # the sign plane of int1 is the whole code


@dataclass(frozen=True)
class Corpus:
    """The pages that are to be stored.

    pages            how many
    squared_patches  n x n of a page, the mean: linking takes as long
    """

    pages: int
    d: int
    squared_patches: float
    encoder: str


@dataclass(frozen=True)
class StoreNeeds:
    """What the pages of a corpus need in a store.

    memory_bytes      that an exact search in a Lance store holds: all vectors
    sign_plane_bytes  that a search by sign planes holds; None where there are none
    qdrant_vectors    of one page, that Qdrant takes at most
    fits_qdrant       whether Qdrant takes the dtype, and the largest page of the sample
    search_seconds    of one query, with the vectors or the sign planes in memory
    build_hours       to compress and store all pages
    encode_hours      to encode them; None for an encoder whose speed nobody measured
    """

    pages: int
    memory_bytes: float
    sign_plane_bytes: float | None
    qdrant_vectors: int
    fits_qdrant: bool
    search_seconds: float
    build_hours: float
    encode_hours: float | None

    def json(self) -> dict[str, Any]:
        """The needs as `adamerge plan --json` prints them beside a row."""
        return {
            "corpus_pages": self.pages,
            "memory_bytes": round(self.memory_bytes),
            "sign_plane_bytes": _rounded(self.sign_plane_bytes, 0),
            "qdrant_vectors": self.qdrant_vectors,
            "fits_qdrant": self.fits_qdrant,
            "search_seconds": round(self.search_seconds, 4),
            "build_hours": round(self.build_hours, 3),
            "encode_hours": _rounded(self.encode_hours, 2),
        }


def needs_of(row: PlanRow, corpus: Corpus) -> StoreNeeds:
    """What a corpus needs if it is stored as a row says."""
    return StoreNeeds(
        pages=corpus.pages,
        memory_bytes=corpus.pages * row.bytes_per_page,
        sign_plane_bytes=_sign_plane_bytes(row, corpus),
        qdrant_vectors=(QDRANT_NUMBERS - 1) // corpus.d,
        fits_qdrant=row.dtype in QDRANT_DTYPES and row.most_rows * corpus.d < QDRANT_NUMBERS,
        search_seconds=_search_seconds(row, corpus),
        build_hours=_build_seconds(row, corpus) / HOUR,
        encode_hours=_encode_hours(corpus),
    )


def _sign_plane_bytes(row: PlanRow, corpus: Corpus) -> float | None:
    if row.dtype not in WITH_SIGN_PLANES or corpus.pages < SIGNS_FROM:
        return None
    return corpus.pages * row.rows_per_page * bytes_per_row(corpus.d, "int1")


def _search_seconds(row: PlanRow, corpus: Corpus) -> float:
    numbers = corpus.pages * row.rows_per_page * corpus.d
    return load_speeds().search[row.dtype].seconds(numbers)


def _build_seconds(row: PlanRow, corpus: Corpus) -> float:
    """Pages that are not merged are not linked."""
    speeds = load_speeds()
    page = speeds.store[row.dtype].seconds(row.rows_per_page * corpus.d)
    if row.compression > 0:
        page += speeds.link_per_number * corpus.squared_patches * corpus.d
    return corpus.pages * page


def _encode_hours(corpus: Corpus) -> float | None:
    seconds = load_speeds().encode.get(corpus.encoder)
    if seconds is None:
        return None
    return corpus.pages * seconds / HOUR


def _rounded(value: float | None, digits: int) -> float | None:
    if value is None:
        return None
    return round(value, digits)
