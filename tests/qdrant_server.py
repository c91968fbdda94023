"""A server that speaks as much of Qdrant's REST API as a store of ours asks for, on loopback.

No registry carries Qdrant's own server. So the requests of the real client are read here by the real client's models,
and answered by the database that it has for tests (its local mode). What is tested is everything on our side of the
network, by any number of processes. How Qdrant's servers store and rank is not.
"""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from later import Later
from pydantic import BaseModel, TypeAdapter

qdrant_client = Later("qdrant_client")


class Refused(Exception):
    """An answer that is no success: its status, and what it says."""


class Database:
    """Collections in memory, and the ids of all points that were written, each time they were."""

    def __init__(self):
        self.client = qdrant_client.QdrantClient(":memory:")
        self.written = []
        self._one_at_a_time = Lock()

    def answer(self, method, path, body):
        """What a request is answered with; Refused where the server would refuse it."""
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        if match is None:
            raise Refused(404, "Not found")
        name, rest = match[1], match[2] or ""
        with self._one_at_a_time:
            if rest == "/exists":
                return {"exists": self.client.collection_exists(name)}
            if (method, rest) == ("PUT", ""):
                return self._create(name, body)
            if not self.client.collection_exists(name):
                raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
            return ANSWERS[method, rest](self, name, body)

    def _create(self, name, body):
        if self.client.collection_exists(name):
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        given = read("CreateCollection", body)
        return self.client.create_collection(name, given.vectors, metadata=given.metadata)

    def _describe(self, name, _):
        return self.client.get_collection(name)

    def _update(self, name, body):
        return self.client.update_collection(name, metadata=read("UpdateCollection", body).metadata)

    def _drop(self, name, _):
        return self.client.delete_collection(name)

    def _upsert(self, name, body):
        points = read("PointsList", body).points
        self.written += [point.payload["id"] for point in points]
        return self.client.upsert(name, points)

    def _delete(self, name, body):
        return self.client.delete(name, read("FilterSelector", body))

    def _set_payload(self, name, body):
        given = read("SetPayload", body)
        return self.client.set_payload(name, given.payload, given.filter, key=given.key)

    def _count(self, name, body):
        return self.client.count(name, read("CountRequest", body).filter)

    def _retrieve(self, name, body):
        given = read("PointRequest", body)
        return self.client.retrieve(name, given.ids, given.with_payload, given.with_vector)

    def _scroll(self, name, body):
        given = read("ScrollRequest", body)
        points, following = self.client.scroll(
            name,
            given.filter,
            given.limit,
            offset=given.offset,
            with_payload=given.with_payload,
            with_vectors=given.with_vector,
        )
        return {"points": points, "next_page_offset": following}

    def _query(self, name, body):
        given = read("QueryRequest", body)
        return self.client.query_points(
            name,
            given.query,
            given.using,
            query_filter=given.filter,
            limit=given.limit,
            with_payload=given.with_payload,
        )

    def _index(self, name, _):
        return {"operation_id": 0, "status": "completed"}  # the database has no indexes


ANSWERS = {
    ("GET", ""): Database._describe,
    ("PATCH", ""): Database._update,
    ("DELETE", ""): Database._drop,
    ("PUT", "/index"): Database._index,
    ("PUT", "/points"): Database._upsert,
    ("POST", "/points"): Database._retrieve,
    ("POST", "/points/delete"): Database._delete,
    ("POST", "/points/payload"): Database._set_payload,
    ("POST", "/points/count"): Database._count,
    ("POST", "/points/scroll"): Database._scroll,
    ("POST", "/points/query"): Database._query,
}


def read(model, body):
    """A request as the client's own model of it; what does not fit is refused."""
    return TypeAdapter(getattr(qdrant_client.models, model)).validate_python(body)


def plain(answer):
    """An answer as JSON has it."""
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json")
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items()}
    return answer


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"null")
        path = self.path.partition("?")[0]
        try:
            result = self.server.database.answer(self.command, path, body)
            status, text = 200, json.dumps({"result": plain(result), "status": "ok", "time": 0})
        except Refused as refused:
            status, reason = refused.args
            text = json.dumps({"status": {"error": reason}, "time": 0})
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def qdrant_server():
    """The database of a server that is up, with its `url`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.database = Database()
        server.database.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.database
        finally:
            server.shutdown()
            thread.join()
            server.database.client.close()
