"""A store as a retriever of LangChain. Needs the extra `langchain`.

    retriever = AdamergeRetriever(store="reports.store", k=5)
    documents = retriever.invoke("revenue by region")            # or await retriever.ainvoke(...)

With `pictures=True` a document has its page as a JPEG too, in base64: `document.metadata["picture"]`.
"""

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import Any

from adamerge.adapters.retrieval import RetrievedPage, as_store, retrieve
from adamerge.errors import missing_extra
from adamerge.store import Store

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import field_validator
except ModuleNotFoundError as error:
    raise missing_extra("adamerge.adapters.langchain", "langchain") from error


class AdamergeRetriever(BaseRetriever):
    """Finds the k best pages of a store, an open one or its address; `where` is a filter in SQL.

    With `hybrid=True` pages are ranked by the words of a query too.
    `k` and `where` can be given to a call too: retriever.invoke("revenue", k=3).
    """

    store: Store
    k: int = 5
    where: str = ""
    pictures: bool = False
    hybrid: bool = False

    @field_validator("store", mode="before")
    @classmethod
    def _open(cls, given: Store | str | Path) -> Store:
        return as_store(given)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        where: str | None = None,
    ) -> list[Document]:
        return self._documents(query, k, where)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        where: str | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, k, where)

    def _documents(self, query: str, k: int | None, where: str | None) -> list[Document]:
        if k is None:
            k = self.k
        if where is None:
            where = self.where
        pages = retrieve(self.store, query, k, where, self.pictures, self.hybrid)
        return [_document(page) for page in pages]


def _document(page: RetrievedPage) -> Document:
    metadata: dict[str, Any] = page.metadata
    if page.picture:
        metadata = metadata | {"picture": b64encode(page.picture).decode()}
    return Document(id=page.id, page_content=page.text, metadata=metadata)
