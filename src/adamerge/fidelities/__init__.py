"""What compression changes in the order of pages, without judgements: each method beside the uncompressed pages.

queries.py   queries that people asked, or strips of patches drawn from the pages; noise.py: as a second encoding has
scores.py    queries x pages -> MaxSim of every pair, uncompressed and by each method
measures.py  two arrays of scores -> agreement, rank correlation, reciprocal rank
bootstrap.py values by page -> mean and interval
compare.py   all of it: pages, methods -> a Fidelity each
"""

from adamerge.fidelities.compare import DEFAULT_METHODS, Fidelity, fidelity
from adamerge.fidelities.queries import Drawing, Queries, draw_queries

__all__ = ["DEFAULT_METHODS", "Drawing", "Fidelity", "Queries", "draw_queries", "fidelity"]
