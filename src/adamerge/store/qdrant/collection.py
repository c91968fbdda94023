"""Requests to one collection of a server."""

import time
from collections.abc import Iterator
from typing import Any

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from adamerge.errors import BadInput, Locked, StoreUnavailable

PAGES_AT_ONCE = 64  # that are read
TRIES = 5  # of a request while the server is busy or away
FIRST_WAIT = 0.5  # seconds before the second try; each wait is twice as long as the one before
CONFLICT = 409  # the status of a collection that is there already, where a new one was to be made


class Collection:
    """A collection, by its name; a request is made again while the server is busy or away."""

    def __init__(self, client: QdrantClient, name: str) -> None:
        """Ask nothing yet."""
        self.client, self.name = client, name

    def __str__(self) -> str:
        """The collection as errors call it."""
        return f"collection '{self.name}'"

    def ask(self, what: str, *given: Any, **options: Any) -> Any:
        """The answer of the server; while it is busy or away, ask again after a wait, each longer than the last."""
        request = getattr(self.client, what)
        wait = FIRST_WAIT
        for tries_left in reversed(range(TRIES)):
            try:
                return request(self.name, *given, **options)
            except (ResponseHandlingException, ResourceExhaustedResponse) as error:
                reason: Exception = error
            except UnexpectedResponse as error:
                if error.status_code == CONFLICT:
                    raise Locked(f"another process has just made {self}: try again") from None
                if _is_refusal(error):
                    raise BadInput(f"Qdrant refused: {' '.join(str(error).split())}") from None
                reason = error
            if tries_left:
                time.sleep(wait)
                wait *= 2
        raise StoreUnavailable(f"Qdrant did not answer in {TRIES} tries: {reason}")

    def exists(self) -> bool:
        """Whether the server has it."""
        return bool(self.ask("collection_exists"))

    def count(self, passing: models.Filter | None) -> int:
        """How many points pass a filter."""
        return int(self.ask("count", passing, exact=True).count)

    def metadata(self) -> dict[str, Any]:
        """What the collection says of itself."""
        return self.ask("get_collection").config.metadata or {}

    def merge_metadata(self, metadata: dict[str, Any]) -> None:
        """Set some names of the metadata; None removes a name, and the others stay."""
        self.ask("update_collection", metadata=metadata)

    def scroll(self, passing: models.Filter | None, payload: Any, vectors: Any) -> Iterator[Any]:
        """The points that pass a filter, a batch at a time."""
        offset: Any = None
        while True:
            points, offset = self.ask(
                "scroll",
                passing,
                PAGES_AT_ONCE,
                offset=offset,
                with_payload=payload,
                with_vectors=vectors,
            )
            yield from points
            if offset is None:
                return


def _is_refusal(error: UnexpectedResponse) -> bool:
    """Whether the same request would be refused again; 429 means that there were too many."""
    status = error.status_code
    return status is not None and status < 500 and status != 429
