"""Any method as a token pooler of colpali-engine.

    AdaMergePooler().pool_embeddings(model(**batch), padding=True)

Rows of zeros are padding, whichever side they are on; `padding_side=` says on which side the answer has them. Only
embeddings arrive here, prompt tokens among them, and no attention: so the default merges without pruning. Give
`attention=` (a list, one (n,) tensor each) to prune.
"""

from typing import Any

import torch
from colpali_engine.compression.token_pooling import BaseTokenPooler
from torch import Tensor

from adamerge.compress import compress_pages, parse_method
from adamerge.types import MultiVector

DEFAULT = "adamerge:k=none,c_min=0.7"


class AdaMergePooler(BaseTokenPooler):  # type: ignore[misc]
    """Pools each page by a method."""

    def __init__(self, method: str = DEFAULT) -> None:
        """A method by its name."""
        self.method = parse_method(method)

    def _pool_embeddings_impl(
        self,
        embeddings: list[Tensor],
        num_workers: int | None = None,
        attention: list[Tensor] | None = None,
        **_: Any,
    ) -> tuple[list[Tensor], list[dict[int, tuple[Tensor]]]]:
        weights: Any = attention or [None] * len(embeddings)
        real = [embedding.any(dim=1) for embedding in embeddings]  # rows of zeros are padding
        pages = []
        for i, embedding in enumerate(embeddings):
            vectors: Any = embedding[real[i]]  # a tensor, which MultiVector takes too
            pages.append(MultiVector(vectors, _of_rows(weights[i], real[i]), id=str(i)))

        pooled = []
        groups = []
        small_pages = compress_pages(pages, self.method, num_workers or 1)
        for embedding, rows, small in zip(embeddings, real, small_pages, strict=True):
            row_numbers = rows.nonzero()[:, 0].cpu()
            pooled.append(torch.as_tensor(small.vectors).to(embedding))
            groups.append(_indices(torch.as_tensor(small.groups), row_numbers))
        return pooled, groups


def _of_rows(weight: Any, rows: Tensor) -> Any:
    """The attention of the rows that are no padding; it may come with or without those that are."""
    if weight is None or len(weight) != len(rows):
        return weight
    return weight[rows.to(weight.device)]


def _indices(groups: Tensor, rows: Tensor) -> dict[int, tuple[Tensor]]:
    """Which rows of the embedding each group holds, as colpali-engine tells it."""
    return {g: (rows[groups == g],) for g in range(int(groups.max()) + 1)}
