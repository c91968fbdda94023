"""Any method as a token pooler of colpali-engine.

    AdaMergePooler().pool_embeddings(model(**batch), padding=True, padding_side="left")

Only embeddings arrive here, prompt tokens among them, and no attention: so the default merges without pruning. Give
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
        arrays: Any = zip(embeddings, attention or (None,) * len(embeddings), strict=True)
        pages = [MultiVector(x, a, id=str(i)) for i, (x, a) in enumerate(arrays)]
        pooled, groups = [], []
        for x, small in zip(
            embeddings, compress_pages(pages, self.method, num_workers or 1), strict=True
        ):
            pooled.append(torch.as_tensor(small.vectors).to(x))
            of = torch.as_tensor(small.groups)
            groups.append({g: ((of == g).nonzero(as_tuple=True)[0],) for g in range(len(small))})
        return pooled, groups
