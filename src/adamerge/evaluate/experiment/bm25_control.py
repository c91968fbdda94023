"""Words instead of vectors: BM25 on the text layer, the control that has no encoder."""

from collections.abc import Mapping

import numpy as np

from adamerge.arrays import Floats
from adamerge.evaluate.data import Dataset
from adamerge.search import WordsInMemory


def bm25_scores(dataset: Dataset, texts: Mapping[str, str]) -> Floats:
    """The BM25 score of every query on every page: (queries, pages); words are taken as they are written."""
    pages = WordsInMemory()
    for id in dataset.page_ids:
        pages.put(id, texts[id].split())

    scores = []
    for text in dataset.queries.values():
        _, of_query = pages.scores(text)
        scores.append(of_query)
    return np.stack(scores)
