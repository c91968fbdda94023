"""The API in OpenAPI 3.1; the page /docs is written from it."""

from typing import Any

from adamerge.server.params import MAX_HITS, MAX_LETTERS

STRING = {"type": "string"}
NUMBER = {"type": ["number", "null"]}
WHOLE = {"type": "integer"}
WHOLE_OR_NULL = {"type": ["integer", "null"]}  # where a database does not tell
BOX = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
LINKS = {"type": "object", "additionalProperties": STRING}
ANY = {"type": "object"}
Schema = dict[str, Any]


def describe(*, uploads: bool, token: bool, folder: bool = False) -> Schema:
    """The description of what this server offers."""
    paths = _reading()
    if uploads:
        paths |= _uploading()
    if folder:
        paths["/api/folder"] = {"get": _operation("How far the store of the folder is", "Folder")}
    described: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "adamerge",
            "version": "1",
            "description": "Search a store of compressed pages.",
        },
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
    if token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _reading() -> Schema:
    q = _query_parameter(
        "q",
        "Words to look for.",
        {"type": "string", "maxLength": MAX_LETTERS, "minLength": 1},
        required=True,
    )
    also = _query_parameter(
        "q", "Where this query matched on the page.", {"type": "string", "maxLength": MAX_LETTERS}
    )
    k = _query_parameter(
        "k", "Hits.", {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": 10}
    )
    where = _query_parameter(
        "where",
        "A filter in SQL on id, source, number and metadata.",
        STRING | {"maxLength": MAX_LETTERS},
    )
    exact = _query_parameter(
        "exact", "Compare every page, however many.", {"type": "boolean", "default": False}
    )
    hybrid = _query_parameter(
        "hybrid",
        "Rank by the words of the query too, not by vectors alone.",
        {"type": "boolean", "default": False},
    )
    id = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": STRING,
        "description": "report.pdf%233",
    }
    plain = {"text/plain": {"schema": STRING}}
    file = {"type": "array", "items": {"$ref": "#/components/schemas/File"}}
    files = {"application/json": {"schema": file}}
    return {
        "/api/search": {
            "get": _operation(
                "The best pages for a query", "Search", [q, k, where, exact, hybrid], errors=(400,)
            )
        },
        "/api/pages/{id}": {
            "get": _operation("What is stored of a page", "Page", [id, also], errors=(400, 404))
        },
        "/api/store": {"get": _operation("The numbers of the store", "Store")},
        "/api/files": {
            "get": {"summary": "The files of the store", "responses": _answers(files) | _errors()}
        },
        "/healthz": {"get": _operation("Whether the server works", "Health")},
        "/metrics": {
            "get": {"summary": "Counters for Prometheus", "responses": _answers(plain) | _errors()}
        },
    }


def _uploading() -> Schema:
    job = {
        "name": "job",
        "in": "path",
        "required": True,
        "schema": STRING,
        "description": "As POST /api/index gave it.",
    }
    file = {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary"}},
    }
    body = {"required": True, "content": {"multipart/form-data": {"schema": file}}}
    post = _operation("Index a PDF or an image", "Job", status=202, errors=(400, 408, 413, 415)) | {
        "requestBody": body
    }
    many = {
        "application/json": {
            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}}
        }
    }
    files = {
        "summary": "Files uploaded since the server started, and those that failed before",
        "responses": _answers(many) | _errors(),
    }
    delete = {
        "summary": "Forget an upload that has ended, and the file of one that failed",
        "parameters": [job],
        "responses": {"204": {"description": "Forgotten"}} | _errors(404, 409),
    }
    bytes_of_file = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    fetch = {
        "summary": "The bytes of a file that failed",
        "parameters": [job],
        "responses": _answers(bytes_of_file) | _errors(404),
    }
    source = {
        "name": "source",
        "in": "path",
        "required": True,
        "schema": STRING,
        "description": "The name of a file, as /api/files gives it.",
    }
    remove = {
        "summary": "Remove the pages of a file from the store, and the file if it was uploaded",
        "parameters": [source],
        "responses": {"204": {"description": "Removed"}} | _errors(404, 409),
    }
    return {
        "/api/files/{source}": {"delete": remove},
        "/api/index": {"post": post, "get": files},
        "/api/index/{job}": {
            "get": _operation("How far a file is", "Job", [job], errors=(404,)),
            "delete": delete,
        },
        "/api/index/{job}/file": {"get": fetch},
    }


def _operation(
    summary: str,
    schema: str,
    parameters: list[Schema] | None = None,
    status: int = 200,
    errors: tuple[int, ...] = (),
) -> Schema:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {
        "summary": summary,
        "parameters": parameters or [],
        "responses": _answers(content, status) | _errors(*errors),
    }


def _answers(content: Schema, status: int = 200) -> Schema:
    return {str(status): {"description": "As asked", "content": content}}


def _errors(*errors: int) -> Schema:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        str(status): {"description": DESCRIPTIONS[status], "content": content}
        for status in (*errors, 401, 403, 421, 429, 503)
    }


def _query_parameter(name: str, about: str, schema: Schema, required: bool = False) -> Schema:
    return {
        "name": name,
        "in": "query",
        "required": required,
        "description": about,
        "schema": schema,
    }


def _object(**properties: Schema) -> Schema:
    """An object of these fields and no others, so that a test finds what is not described."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


DESCRIPTIONS = {
    400: "A parameter is wrong",
    401: "The token is missing",
    403: "Not allowed: from another page, or no uploads here",
    404: "Not there",
    408: "The file took too long to arrive",
    413: "The file is too large",
    415: "The file is no PDF and no image",
    409: "The file is not indexed yet, or is one of the folder that is served",
    421: "The server has another name",
    429: "Too many wrong tokens",
    503: "Not now: too busy, or the store cannot be read",
}
MATCH = _object(
    word=STRING,
    pieces={"type": "array", "items": STRING},
    stop_word={"type": "boolean"},
    similarity=NUMBER,
    words={"type": "array", "items": STRING},
    boxes={"type": "array", "items": BOX},
)
MATCHES = {"type": "array", "items": MATCH}
PAGE_FIELDS: Schema = {
    "id": STRING,
    "source": STRING,
    "number": WHOLE,
    "metadata": ANY,
    "links": LINKS,
    "matches": MATCHES,
}
MARK = {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2}
SNIPPET = _object(text=STRING, marks={"type": "array", "items": MARK})
HIT = _object(
    **PAGE_FIELDS,
    rank=WHOLE,
    score=NUMBER,
    added_by_words=NUMBER,
    snippet=SNIPPET,
    equal_to=STRING,
)
STORE = _object(
    pages=WHOLE,
    files=WHOLE,
    dimensions=WHOLE,
    dtype=STRING,
    method=STRING,
    patches=WHOLE,
    stored=WHOLE,
    extra=WHOLE,
    compression=NUMBER,
    bytes_of_vectors=WHOLE_OR_NULL,
    bytes_of_the_rest=WHOLE_OR_NULL,
    bytes_in_all=WHOLE_OR_NULL,
    bytes_per_page=WHOLE_OR_NULL,
    encoder=STRING,
    revision={"type": ["string", "null"]},
)
SCHEMAS = {
    "Error": _object(error=STRING),
    "Health": _object(status=STRING),
    "Store": STORE | {"required": [name for name in STORE["required"] if name != "revision"]},
    "Search": _object(
        query=STRING,
        how={"enum": ["exact", "settled", "limit"]},
        candidates=WHOLE,
        pages=WHOLE,
        first_stage={"enum": ["", "sign planes", "mean vectors"]},
        milliseconds={"type": "number"},
        hits={"type": "array", "items": HIT},
    ),
    "Page": _object(
        **PAGE_FIELDS,
        of=WHOLE,
        method=STRING,
        patches=WHOLE,
        stored=WHOLE,
        extra=WHOLE,
        compression=NUMBER,
        theta=NUMBER,
        gap=NUMBER,
        text=STRING,
    ),
    "File": _object(
        source=STRING,
        pages=WHOLE,
        of=WHOLE,
        vectors=WHOLE,
        bytes=WHOLE,
        indexed={"type": ["string", "null"]},
        metadata=ANY,
        links=LINKS,
    ),
    "Folder": _object(
        state={"enum": ["waiting", "indexing", "done", "failed"]},
        waiting_for=STRING,
        done=WHOLE,
        total=WHOLE,
        current=STRING,
        added=WHOLE,
        replaced=WHOLE,
        removed=WHOLE,
        unchanged=WHOLE,
        skipped={"type": "array", "items": STRING},
        passed_over={"type": "array", "items": {"type": "array"}},
        error=STRING,
    ),
    "Job": _object(
        id=STRING,
        name=STRING,
        state={"enum": ["waiting", "indexing", "done", "failed"]},
        waiting_for=STRING,
        done=WHOLE,
        total=WHOLE,
        added=WHOLE,
        unchanged=WHOLE,
        skipped={"type": "array", "items": STRING},
        error=STRING,
        links=LINKS,
    ),
}
