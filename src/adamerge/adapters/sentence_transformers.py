"""Any method as a token pooling of sentence-transformers 6: in a pipeline, per call, or alone.

    model.encode_document(pages, token_pooling=AdaMergePooling())
    AdaMergePooling("sem-cluster:m=4").pool(embeddings)
    MultiVectorEncoder(modules=[*model, AdaMergePooling()])       # saved and loaded with the model

Only embeddings arrive here, no attention: so the default merges without pruning. `importance=density` prunes and weighs
by how few patches are alike.
"""

import torch
from sentence_transformers.multi_vector_encoder.modules.token_pooling import BaseTokenPooling
from torch import Tensor

from adamerge.compress import compress, parse_method

DEFAULT = "adamerge:k=none,c_min=0.7"


class AdaMergePooling(BaseTokenPooling):
    """Pools each document by a method; the first rows may be protected, as sentence-transformers' own pooling does."""

    config_keys = ["tasks", "method", "num_protected_tokens"]  # noqa: RUF012 (the base class declares it so)

    def __init__(
        self,
        method: str = DEFAULT,
        *,
        num_protected_tokens: int = 0,
        tasks: str | list[str] | None = None,
    ) -> None:
        """A method by its name."""
        super().__init__(tasks=tasks)
        self.method = str(parse_method(method))
        self.num_protected_tokens = num_protected_tokens

    def pool_one(self, embedding: Tensor, attention: Tensor | None = None, **_: object) -> Tensor:
        """One document, (n, d) -> (m, d), on its device and in its dtype; protected rows stay and come first."""
        protected = self.num_protected_tokens
        first = embedding[:protected]
        rest = embedding[protected:]
        if not len(rest):
            return embedding
        if attention is not None:
            attention = attention[protected:]
        small = compress(rest, attention, self.method)
        return torch.cat([first, torch.as_tensor(small.vectors).to(first)])
