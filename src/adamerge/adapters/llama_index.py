"""A store as a retriever of LlamaIndex. Needs the extra `llama-index`.

    retriever = AdamergeRetriever("reports.store", similarity_top_k=5)
    nodes = retriever.retrieve("revenue by region")              # or await retriever.aretrieve(...)

With `pictures=True` every node is an ImageNode, which has the text of its page and its picture as a JPEG.
"""

import asyncio
from base64 import b64encode
from pathlib import Path

from adamerge.adapters.retrieval import RetrievedPage, as_store, retrieve
from adamerge.errors import missing_extra
from adamerge.store import Store

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise missing_extra("adamerge.adapters.llama_index", "llama-index") from error


class AdamergeRetriever(BaseRetriever):
    """Finds the best pages of a store, an open one or its address; `where` is a filter in SQL.

    With `hybrid=True` pages are ranked by the words of a query too.
    """

    def __init__(
        self,
        store: Store | str | Path,
        *,
        similarity_top_k: int = 5,
        where: str = "",
        pictures: bool = False,
        hybrid: bool = False,
    ) -> None:
        """Open the store if it is not open yet."""
        self.store = as_store(store)
        self.similarity_top_k = similarity_top_k
        self.where = where
        self.pictures = pictures
        self.hybrid = hybrid
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        k = self.similarity_top_k
        pages = retrieve(self.store, query, k, self.where, self.pictures, self.hybrid)
        return [_node(page) for page in pages]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(page: RetrievedPage) -> NodeWithScore:
    node = TextNode(id_=page.id, text=page.text, metadata=page.metadata)
    if page.picture:
        node = ImageNode(
            id_=page.id,
            text=page.text,
            metadata=page.metadata,
            image=b64encode(page.picture).decode(),
            image_mimetype="image/jpeg",
        )
    return NodeWithScore(node=node, score=page.score)
