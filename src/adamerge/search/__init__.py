"""Query × vectors -> the best pages: exact MaxSim, and where on a page it matched. Needs no store; stores call it."""

from adamerge.search.candidates import rank_until_stable
from adamerge.search.match import matches
from adamerge.search.maxsim import best, maxsim, maxsim_all
from adamerge.search.memory import Memory

__all__ = ["Memory", "best", "matches", "maxsim", "maxsim_all", "rank_until_stable"]
