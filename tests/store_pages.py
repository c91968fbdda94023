"""What a store keeps, and what lies beside it: to compare one store with another."""

import lance

from adamerge.store.entry import row_of


def pages_of(store, without=()):
    """All that a store keeps of each page, by its id; without some columns."""
    found = {}
    for entry in store.entries():
        boxes = None if entry.page.boxes is None else entry.page.boxes.tobytes()
        vectors = entry.page.stored.tobytes()
        row = row_of(entry)
        for name in without:
            del row[name]
        plain = repr(row)
        found[entry.id] = (plain, vectors, boxes, entry.words, entry.thumbnail, entry.metadata)
    return found


def left_overs(path):
    """Files of the folder of a store that no version of its table names."""
    table = path / "pages.lance"
    named = set(lance.dataset(table).tracked_files().read_all()["path"].to_pylist())
    data = {f"data/{file.name}" for file in (table / "data").iterdir()}
    hidden = [file.name for file in path.iterdir() if file.name.startswith(".")]
    return sorted(data - named) + hidden
