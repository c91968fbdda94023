"""A query and the vectors of pages -> the best pages, and why. Needs no database; stores call it.

In the order of a search:

    maxsim.py        the score of a page
    memory.py        exact search: all pages, held in memory; mapped_rows.py: or in a file that is mapped
    sign_planes.py   the first stage of a search in codes: which pages are candidates
    two_stage.py     how many candidates, and when that is enough
    bm25.py          the score of a page by its words, for those who search by both
    hybrid.py        pages ranked by vectors, and scores by words -> pages ranked by both
    ranking.py       scores -> the k best pages
    page_regions.py  what every query asks of a page: where each stored row lies on it, and which words stand there
    page_text.py     its words: their sentences (sentences.py), and those that say nothing (stop_words.py)
    matches.py       why a page was found: where on it each query vector matched
    snippets.py      what a person reads of it: the sentences around the best matches
    hits.py          the k best pages -> hits, with their matches and snippets
    found.py         what a search gives: Found, Hit, Match, Snippet

And beside it, for experiments:

    score_matrix.py   the score of every query on every page
"""

from adamerge.search.bm25 import WordsInMemory
from adamerge.search.found import Found, Hit, Match, Snippet
from adamerge.search.hits import hits_of
from adamerge.search.hybrid import candidates_of_each, rank_by_both, share_of_words
from adamerge.search.mapped_rows import mapped_rows
from adamerge.search.matches import matches, matches_in
from adamerge.search.maxsim import PageVectors, check_query, maxsim, maxsim_all, maxsim_of_batches
from adamerge.search.memory import VectorsInMemory
from adamerge.search.page_regions import PageRegions, patch_boxes
from adamerge.search.ranking import Ranking, best
from adamerge.search.score_matrix import StackedQueries, score_pages, stack_queries
from adamerge.search.sign_planes import nearest_by_signs
from adamerge.search.snippets import snippet_of
from adamerge.search.two_stage import most_candidates, rank_in_two_stages

__all__ = [
    "Found",
    "Hit",
    "Match",
    "PageRegions",
    "PageVectors",
    "Ranking",
    "Snippet",
    "StackedQueries",
    "VectorsInMemory",
    "WordsInMemory",
    "best",
    "candidates_of_each",
    "check_query",
    "hits_of",
    "mapped_rows",
    "matches",
    "matches_in",
    "maxsim",
    "maxsim_all",
    "maxsim_of_batches",
    "most_candidates",
    "nearest_by_signs",
    "patch_boxes",
    "rank_by_both",
    "rank_in_two_stages",
    "score_pages",
    "share_of_words",
    "snippet_of",
    "stack_queries",
]
