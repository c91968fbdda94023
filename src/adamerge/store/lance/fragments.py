"""Rows that many processes write and one commits: files of a table that belong to no version yet.

A job on a cluster keeps notes of such files in a folder of its own beside the table, `.job-KEY`. As long as that is
there, nobody removes files that no version names.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.fragment import FragmentMetadata, write_fragments

from adamerge.store.about import About
from adamerge.store.entry import Entry, as_entry
from adamerge.store.lance.errors import writing
from adamerge.store.lance.schema import to_table

KEY = "adamerge"  # the property of a transaction that holds the key of the job that made it


@dataclass(frozen=True)
class RowWriter:
    """What a process needs to write rows of a table, without opening the store.

    address  of the table
    schema   its columns, those of metadata too
    written  the number of this write, which the rows have in their column `written`
    """

    address: str
    schema: pa.Schema
    about: About
    written: int
    storage_options: dict[str, str] | None = None

    def write(self, entries: Sequence[Entry]) -> list[str]:
        """Write entries to files that no version names yet; what transaction() takes, as text."""
        checked = []
        for entry in entries:
            checked.append(as_entry(entry))
            self.about.check_page(entry.page)
        if not checked:
            return []
        rows = to_table(checked, self.about, self.schema, self.written)
        with writing():
            fragments = write_fragments(
                rows,
                self.address,
                schema=self.schema,
                mode="append",
                storage_options=self.storage_options,
            )
        return [json.dumps(fragment.to_json()) for fragment in fragments]


def are_there(address: str, fragments: Sequence[str]) -> bool:
    """Whether the files of fragments are in a table; in a bucket nobody removes them, so it is not asked."""
    if "://" in address:
        return True
    for text in fragments:
        for file in FragmentMetadata.from_json(text).files:
            path = Path(address) / "data" / file.path
            if not path.exists() or path.stat().st_size != file.file_size_bytes:
                return False
    return True


def transaction(
    dataset: Any | None, schema: pa.Schema, fragments: Sequence[str], gone: str, key: str
) -> Any:
    """One change of a table: rows of fragments come, rows that pass the filter `gone` go, in the same moment."""
    new = [FragmentMetadata.from_json(text) for text in fragments]
    properties = {KEY: key}
    if dataset is None:
        made = lance.LanceOperation.Overwrite(schema, new)
        return lance.Transaction(0, made, transaction_properties=properties)

    updated, removed = [], []
    if gone:
        for fragment in dataset.get_fragments():
            left = fragment.delete(gone)
            if left is None:
                removed.append(fragment.fragment_id)
            elif left.deletion_file != fragment.metadata.deletion_file:
                updated.append(left)
    change = lance.LanceOperation.Update(removed, updated, new)
    return lance.Transaction(dataset.version, change, transaction_properties=properties)


def is_committed(dataset: Any, key: str) -> bool:
    """Whether one of the versions that are still there was made by the job of a key."""
    for version in dataset.versions():
        made = dataset.read_transaction(version["version"])
        if made is not None and (made.transaction_properties or {}).get(KEY) == key:
            return True
    return False
