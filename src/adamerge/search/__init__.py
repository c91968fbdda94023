"""Query × vectors -> the best pages: exact MaxSim, and where on a page it matched. Needs no store; stores call it."""

from adamerge.search.candidates import double
from adamerge.search.match import matches
from adamerge.search.maxsim import best, maxsim, maxsim_all
from adamerge.search.memory import Memory

__all__ = ["Memory", "best", "double", "matches", "maxsim", "maxsim_all"]
