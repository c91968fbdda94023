"""The parts of a running server, which every endpoint works with."""

from dataclasses import dataclass, field

from starlette.requests import Request

from adamerge.server.folder.indexer import FolderIndexer
from adamerge.server.metrics import Metrics
from adamerge.server.middleware.throttle import WrongTokens
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.reader.thread_slots import ThreadSlots
from adamerge.server.settings import Settings
from adamerge.server.uploads.job_queue import UploadQueue
from adamerge.server.workers.client import WorkerClient

MAX_DRAWING = 8  # pictures and inspections that may wait for each other


@dataclass(frozen=True)
class Context:
    """The parts of a server; `uploads` is None where nothing can be uploaded, `folder` where no folder is served.

    viewer   the worker that draws pages and makes inspections
    drawing  the threads that wait for the viewer
    """

    settings: Settings
    reader: StoreReader
    metrics: Metrics
    viewer: WorkerClient
    uploads: UploadQueue | None
    folder: FolderIndexer | None = None
    wrong_tokens: WrongTokens = field(default_factory=WrongTokens)
    drawing: ThreadSlots = field(default_factory=lambda: ThreadSlots(MAX_DRAWING))

    def stop(self) -> None:
        """Refuse what waits, so that only what is being computed has to be waited for."""
        self.reader.searches.close()
        self.viewer.close()


def context_of(request: Request) -> Context:
    """What the server of a request works with."""
    context: Context = request.app.state.context
    return context
