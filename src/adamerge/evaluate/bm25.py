"""Words instead of vectors: BM25 on the text layer, the control that has no encoder. Needs the extra `evaluate`."""

from collections.abc import Mapping

import numpy as np

from adamerge.arrays import Floats
from adamerge.errors import missing_extra
from adamerge.evaluate.datasets import Dataset


def bm25(dataset: Dataset, texts: Mapping[str, str]) -> Floats:
    """The BM25 score of every query on every page: (queries, pages); words as they are, in any language."""
    try:
        import bm25s
    except ImportError:
        raise missing_extra("bm25", "evaluate") from None
    quiet = {"stopwords": None, "show_progress": False, "return_ids": False}
    pages = bm25s.tokenize([texts[id] for id in dataset.page_ids], **quiet)
    queries = bm25s.tokenize(list(dataset.queries.values()), **quiet)
    index = bm25s.BM25()
    index.index(pages, show_progress=False)
    known = set(index.vocab_dict)
    rows = [[word for word in query if word in known] for query in queries]
    zero = np.zeros(len(dataset), np.float32)  # a query of unknown words finds nothing
    return np.stack([index.get_scores(row).astype(np.float32) if row else zero for row in rows])
