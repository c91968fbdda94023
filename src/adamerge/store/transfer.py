"""Out of a store: to a folder of vectors, to Parquet, to another store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from adamerge import files
from adamerge.errors import BadFile, Mismatch, missing_extra
from adamerge.store.base import PAGES_PER_WRITE, Store
from adamerge.store.entry import Entry, entry_batches
from adamerge.vectors import Writer

ROW_GROUP = 256  # pages that Parquet keeps together


def export_shards(store: Store, out: str | Path, dtype: str | None = None) -> Iterator[Entry]:
    """Write the pages of a store to a folder of vectors that `adamerge info` and read_compressed() read.

    dtype  of the vectors; without it that of the store, so that nothing is rounded
    """
    about = store.require_about()
    out = Path(out)
    _check_is_new(out)
    files.remove_dead_attempts(out)
    temporary = files.temporary_name(out)
    try:
        with Writer(
            temporary, dtype=dtype or about.dtype, method=about.method, encoder=about.encoder
        ) as folder:
            for entry in store.entries():
                folder.add(entry.page)
                yield entry
        files.rename(temporary, out)
    finally:
        rmtree(temporary, ignore_errors=True)


def export_parquet(store: Store, out: str | Path) -> Iterator[Entry]:
    """Write the pages of a store to one Parquet file, a row a page, in types that every reader has.

    vectors, extra  list<list<float32>>; beside them id, source, number, groups, theta, and the metadata
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_extra("Parquet", "arrow") from None
    from adamerge.store.lance.schema import fields_of

    _check_is_new(out)
    matrix = pa.list_(pa.list_(pa.float32()))
    own = [
        pa.field("id", pa.string()),
        pa.field("source", pa.string()),
        pa.field("number", pa.int32()),
        pa.field("theta", pa.float64()),
        pa.field("vectors", matrix),
        pa.field("extra", matrix),
        pa.field("groups", pa.list_(pa.int32())),
    ]
    schema = pa.schema([*own, *fields_of(store.columns())])
    with (
        files.replacing(out) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as file,
    ):
        for batch in entry_batches(store.entries(), ROW_GROUP):
            rows = [_row(entry) for entry in batch]
            file.write_table(pa.Table.from_pylist(rows, schema))
            yield from batch


def copy(source: Store, target: Store, *, merge: bool = False) -> Iterator[Entry]:
    """Copy every page of a store to another store, of any database; a page is yielded once it is there.

    The target is new, or an earlier copy of the same store, which is completed and brought up to date. Any other store
    that holds pages is refused, unless `merge` says to add to it: pages of the same id are replaced. Vectors may be
    rounded to a dtype of fewer bytes on the way.
    """
    about = source.require_about()
    target.refresh()
    if target.about is not None and not merge and target.about.copied_from != about.made:
        raise Mismatch(
            f"{target} holds {len(target)} pages already, and is not a copy of {source}: "
            "copy to a new place, or add to it with --merge (merge=True)"
        )
    target.prepare_copy(about)
    dtype = target.chosen_dtype
    for batch in entry_batches(source.entries(), PAGES_PER_WRITE):
        target.add([_unless_in(dtype, entry) for entry in batch])
        yield from batch


def _unless_in(dtype: str | None, entry: Entry) -> Entry:
    """An entry whose rows are in this dtype; else the vectors that they stand for, which the target rounds."""
    page = entry.page
    if page.rows is None or page.rows.dtype == dtype:
        return entry
    return replace(entry, page=replace(page, rows=None))


def _row(entry: Entry) -> dict[str, Any]:
    page = entry.page
    own = {
        "id": entry.id,
        "source": entry.source,
        "number": entry.number,
        "theta": page.cut.theta,
        "vectors": list(page.vectors),
        "extra": None if page.extra is None else list(page.extra),
        "groups": page.groups,
    }
    return own | dict(entry.metadata)


def _check_is_new(out: str | Path) -> None:
    if Path(out).exists():
        raise BadFile(f"{out} is there already: choose another name")
