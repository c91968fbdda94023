"""The store of a cluster: a collection of a Qdrant server. Needs the extra `qdrant`.

store.py         QdrantStore: writing, reading, searching
collection.py    requests to one collection, made again while its server is busy or away
writer_lock.py   one process indexes at a time
point_writer.py  pages that many processes write
points.py        entries <-> points
filters.py       filters as Qdrant has them
"""
