"""The embedded store: a Lance table in a folder or a bucket. Needs the extra `store`.

    store.py            LanceStore: writing, reading, searching
    table.py            the dataset: its newest version, every change as one commit, removing old versions
    fragments.py        rows that many processes write and one commits
    commit.py           a commit on a local disk is whole, or it is taken back
    snapshot.py         reading one version; remembered_entries.py: of the pages that were found lately
    summary.py          the files and the facts of one version
    loaded_vectors.py   the vectors of the newest version that a search holds
    rank.py             one version, and what is held of it -> the best pages
    schema.py           entries <-> Arrow; checksum.py: of each page
    row_columns.py      stored rows <-> Arrow, in every dtype
    folder.py           the files of a store, without Lance
    errors.py           what Lance raises -> errors of adamerge

This file does not import Lance, so that `is_store` looks at a folder without loading it.
"""

import os

# Lance reads this when it is imported; without it, it writes warnings to stderr.
os.environ.setdefault("LANCE_LOG", "error")
