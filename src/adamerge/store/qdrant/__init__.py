"""The store of a cluster: a collection of a Qdrant server. Needs the extra `qdrant`.

store.py     QdrantStore: writing, reading, searching
points.py    entries <-> points
filters.py   filters as Qdrant has them
"""
