"""The same work on a Ray cluster: encode, compress and index by many machines. Needs the extra `ray`.

A run is planned as units of work (vectors/units.py). Each unit makes one output of its own under its own name, so a
unit that is tried again, or twice at once, does no harm, and a run that was stopped goes on. Ray places the work; the
process that was started (the driver) plans, counts, tries again and finishes.

    connect.py          a cluster by its address; what is set before Ray is imported
    user_code.py        Python files of a user reach the workers
    head.py             which nodes there are; a head that does not answer ends a run in words
    failures.py         what Ray raises -> a worker that was lost, or an error of adamerge
    pool.py             workers: tasks for compression, actors that load an encoder once
    driver.py           units -> workers: tried again, bad pages found, progress
    summary.py          what a run has cost
    encoder_workers.py  actors that have the encoder, for encoding and indexing
    compress.py         a folder of vectors -> a folder of compressed pages
    encode.py           files -> a folder of vectors
    index.py            files -> a store
    index_workers.py    actors that encode and write units into a store
    lance_job.py        changed files -> a folder or bucket, in one commit; notes.py: what a job has done so far
    qdrant_job.py       changed files -> a Qdrant server, page by page
"""

from adamerge.scale.compress import compress_folder
from adamerge.scale.connect import Cluster
from adamerge.scale.encode import encode_files
from adamerge.scale.summary import Summary

__all__ = ["Cluster", "Summary", "compress_folder", "encode_files"]
