"""Out of a store: to a folder of vectors, to Parquet, to another store."""

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

from adamerge import files
from adamerge.errors import BadFile, Mismatch, missing_extra
from adamerge.store.base import BATCH, Store
from adamerge.store.entry import Entry, batches
from adamerge.vectors import Writer

PAGES = 256  # of a row group


def export_shards(store: Store, out: str | Path, dtype: str = "float16") -> Iterator[Entry]:
    """Write the pages of a store to a folder of vectors that `adamerge info` and read_compressed() read."""
    about, out = store.known(), Path(out)
    _refuse(out)
    files.remove_dead_attempts(out)
    temporary = files.temporary_name(out)
    try:
        with Writer(temporary, dtype=dtype, method=about.method, encoder=about.encoder) as folder:
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
    from adamerge.store.schema import fields_of

    _refuse(out)
    columns = store.columns()
    own = {"id": pa.string(), "source": pa.string(), "number": pa.int32(), "theta": pa.float64()}
    many = pa.list_(pa.list_(pa.float32()))
    lists = {"vectors": many, "extra": many, "groups": pa.list_(pa.int32())}
    schema = pa.schema([*(own | lists).items(), *((f.name, f.type) for f in fields_of(columns))])
    with (
        files.replacing(out) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as file,
    ):
        for batch in batches(store.entries(), PAGES):
            file.write_table(pa.Table.from_pylist([_row(entry) for entry in batch], schema))
            yield from batch


def copy(source: Store, target: Store, *, merge: bool = False) -> Iterator[Entry]:
    """Copy every page of a store to a new one, of the same database or not; a page is yielded once it is there.

    A copy of the same store that was stopped, or is out of date, is gone on with. Any other store that holds pages is
    refused, unless `merge` says to add them: pages of the same id would be replaced.
    """
    about = source.known()
    target.refresh()
    if target.about is not None and not merge and target.about.copied_from != about.made:
        raise Mismatch(
            f"{target} holds {len(target)} pages already, and is not a copy of {source}: "
            "copy to a new place, or add to it with --merge (merge=True)"
        )
    target.like(about)
    for batch in batches(source.entries(), BATCH):
        target.add(batch)
        yield from batch


def _row(entry: Entry) -> dict[str, Any]:
    page = entry.page
    row = {"id": entry.id, "source": entry.source, "number": entry.number, "theta": page.cut.theta}
    extra = None if page.extra is None else list(page.extra)
    return (
        row
        | {"vectors": list(page.vectors), "extra": extra, "groups": page.groups}
        | dict(entry.metadata)
    )


def _refuse(out: str | Path) -> None:
    if Path(out).exists():
        raise BadFile(f"{out} is there already: choose another name")
