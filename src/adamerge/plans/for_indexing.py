"""The plan of files that are indexed next: a sample of them is encoded, and the method for the rest chosen."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adamerge.compress import parse_method
from adamerge.errors import BadInput
from adamerge.plans.candidates import DTYPES
from adamerge.plans.planning import Plan, plan
from adamerge.plans.sample import SAMPLE
from adamerge.plans.sources import sample_files
from adamerge.plans.target import target_of
from adamerge.store import Indexing
from adamerge.vectors.watcher import Watcher


def plan_indexing(
    paths: Sequence[str | Path],
    how: Indexing,
    watcher: Watcher | None = None,
    *,
    dtypes: Sequence[str] = DTYPES,
    total: str | float | None = None,
    corpus_pages: int | None = None,
    bytes_per_page: str | float | None = None,
) -> tuple[Plan, Indexing]:
    """A plan on a sample of files, and how to index them by it; a budget that nothing meets is refused.

    The encoder is loaded once, for the sample and for what follows. Pages of the sample that cannot be read are passed
    over: indexing tells of them.
    """
    target_of(total=total, corpus_pages=corpus_pages, bytes_per_page=bytes_per_page)
    encoder = how.load_encoder()
    pages = sample_files(
        paths,
        encoder,
        SAMPLE,
        dpi=how.dpi,
        batch_size=how.batch_size,
        skip_bad=lambda error: None,
        watcher=watcher,
        password=how.password,
    )
    found = plan(
        pages,
        total=total,
        corpus_pages=corpus_pages,
        bytes_per_page=bytes_per_page,
        dtypes=[dtype for dtype in DTYPES if dtype in dtypes],
        encoder=how.encoder_name,
    )
    if found.chosen is None:
        raise BadInput(str(found))
    method = parse_method(found.chosen.method)
    return found, replace(how, encoder=encoder, method=method)
