"""One version -> its files, and its facts."""

from typing import Any

from adamerge.store.entry import Source
from adamerge.store.facts import Totals, facts_of
from adamerge.store.lance.snapshot import Snapshot


def sources_of(snapshot: Snapshot) -> dict[str, Source]:
    """The files whose pages a version holds, by name."""
    columns = ["id", "source", "hash", "root", "pages", "rows", "written"]
    listed = snapshot.read([*columns, *snapshot.metadata])
    found: dict[str, Source] = {}
    for row in listed.to_pylist():
        name, id = row["source"], row["id"]
        if name not in found:
            values = {key: row[key] for key in snapshot.metadata if row[key] is not None}
            found[name] = Source({}, row["pages"], row["root"], values)
        source = found[name]
        source.hashes[id] = row["hash"]
        source.vector_counts[id] = row["rows"]
        source.written[id] = row["written"]
    return found


def facts_of_version(snapshot: Snapshot, total_bytes: int) -> dict[str, Any]:
    """What a version holds; `total_bytes` are those of all files."""
    listed = snapshot.read(["patches", "rows", "extra", "source"])
    totals = Totals(
        pages=len(listed),
        files=len(listed["source"].unique()),
        patches=int(listed["patches"].to_numpy().sum()),
        rows=int(listed["rows"].to_numpy().sum()),
        extra=int(listed["extra"].to_numpy().sum()),
        total_bytes=total_bytes,
    )
    return facts_of(snapshot.about, snapshot.metadata, totals)
