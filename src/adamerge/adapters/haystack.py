"""A store as a retriever of Haystack. Needs the extra `haystack`.

    retriever = AdamergeRetriever("reports.store", top_k=5)
    documents = retriever.run("revenue by region")["documents"]  # or await retriever.run_async(...)

A pipeline with it is saved and loaded as any other. With `pictures=True` the picture of a page is the `blob` of its
document, a JPEG.
"""

import asyncio
from pathlib import Path
from typing import Any

from adamerge.adapters.retrieval import RetrievedPage, as_store, retrieve
from adamerge.errors import missing_extra
from adamerge.store import Store

try:
    from haystack import Document, component, default_to_dict
    from haystack.dataclasses import ByteStream
except ModuleNotFoundError as error:
    raise missing_extra("adamerge.adapters.haystack", "haystack") from error


@component
class AdamergeRetriever:
    """Finds the best pages of the store at an address; `where` is a filter in SQL.

    With `hybrid=True` pages are ranked by the words of a query too.
    """

    def __init__(
        self,
        store: str | Path,
        *,
        top_k: int = 5,
        where: str = "",
        pictures: bool = False,
        hybrid: bool = False,
    ) -> None:
        """Open nothing yet: the store opens with the first query, or by warm_up()."""
        self.address = str(store)
        self.top_k = top_k
        self.where = where
        self.pictures = pictures
        self.hybrid = hybrid
        self._store: Store | None = None

    def warm_up(self) -> None:
        """Open the store."""
        if self._store is None:
            self._store = as_store(self.address)

    def to_dict(self) -> dict[str, Any]:
        """What a saved pipeline keeps of it."""
        return default_to_dict(
            self,
            store=self.address,
            top_k=self.top_k,
            where=self.where,
            pictures=self.pictures,
            hybrid=self.hybrid,
        )

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, where: str | None = None
    ) -> dict[str, list[Document]]:
        """The best pages for a query, best first."""
        self.warm_up()
        assert self._store is not None
        if top_k is None:
            top_k = self.top_k
        if where is None:
            where = self.where
        pages = retrieve(self._store, query, top_k, where, self.pictures, self.hybrid)
        return {"documents": [_document(page) for page in pages]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, where: str | None = None
    ) -> dict[str, list[Document]]:
        """The same, while other work goes on."""
        return await asyncio.to_thread(self.run, query, top_k, where)


def _document(page: RetrievedPage) -> Document:
    blob = None
    if page.picture:
        blob = ByteStream(page.picture, mime_type="image/jpeg")
    return Document(id=page.id, content=page.text, blob=blob, meta=page.metadata, score=page.score)
