"""Words instead of vectors: BM25 on the text layer, the control that has no encoder. Needs the extra `evaluate`."""

from collections.abc import Mapping

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import missing_extra
from adamerge.evaluate.data import Dataset


def bm25_scores(dataset: Dataset, texts: Mapping[str, str]) -> Floats:
    """The BM25 score of every query on every page: (queries, pages); words are taken as they are written."""
    try:
        import bm25s
    except ImportError:
        raise missing_extra("bm25", "evaluate") from None

    options = {"stopwords": None, "show_progress": False, "return_ids": False}
    page_words = bm25s.tokenize([texts[id] for id in dataset.page_ids], **options)
    query_words = bm25s.tokenize(list(dataset.queries.values()), **options)

    index = bm25s.BM25()
    index.index(page_words, show_progress=False)
    known = set(index.vocab_dict)

    scores = np.zeros((len(query_words), len(dataset)), np.float32)
    for row, words in zip(scores, query_words, strict=True):
        known_words = [word for word in words if word in known]
        if known_words:  # a query of unknown words finds nothing
            row[:] = index.get_scores(known_words)
    return scores
