"""Writes the examples of the corpus, fuzz/corpus/examples.zip: python -m fuzz.write_corpus.

The same libraries give the same bytes. Findings are files beside the archive, and stay as they are.
"""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import torch
from PIL import Image
from reportlab.pdfgen.canvas import Canvas
from safetensors.numpy import save

import adamerge as am
from fuzz.target import EXAMPLES

RANDOM = np.random.default_rng(0)
SIZES = (3, 1, 5)
ROWS = [RANDOM.normal(size=(n, 4)).astype(np.float32) for n in SIZES]
ATTENTION = [RANDOM.random(n).astype(np.float32) for n in SIZES]
FLAT: dict[str, Any] = {
    "vectors": np.concatenate(ROWS),
    "offsets": np.array([0, 3, 4, 9]),
    "attention": np.concatenate(ATTENTION),
}
GRID = """\
encoders = ["minilm"]
datasets = ["books"]

[options]
batch_size = 4

[[methods]]
name = "adamerge"
k = ["none", -0.25]
unit = [false, true]

[[methods]]
name = ["identity", "docpruner"]

[[controls]]
name = ["random", "merge-total"]
of = { name = "adamerge", k = "none" }
"""
KINDS = """\
source,year,language,price,draft,day,at
a.pdf,2020,en,1.5,true,2026-01-01,2026-01-01T10:00
b.pdf,,"a ""b"", c",2,false,,
"""
FORM = (
    "--x\r\n"
    'Content-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
    "%PDF-1.7 no\r\n"
    "--x--\r\n"
)
written: dict[str, bytes] = {}  # target/name -> example


def write(target: str, name: str, data: bytes) -> None:
    """Write one example."""
    written[f"{target}/{name}"] = data


def texts() -> None:
    """An experiment, and tables of metadata: one of every kind of value, one as Windows writes it."""
    write("experiments", "grid.toml", GRID.encode())
    write("metadata", "kinds.csv", KINDS.encode())
    write("metadata", "windows.csv", '\ufeffname,source\r\n007,"x\r\ny.pdf"\r\n'.encode())


def requests() -> None:
    """Requests to the server, one for each kind of address."""
    html = "Accept: text/html"
    chunked = "Transfer-Encoding: chunked"
    form = "Content-Type: multipart/form-data; boundary=x"
    fields = "Content-Type: application/x-www-form-urlencoded"
    search = "/api/search?q=alpha%20beta&k=3&where=year%20%3E%202000"

    request("home", "GET /", html)
    request("search-page", "GET /?q=alpha&k=5", html)
    request("page", "GET /page/report.pdf%231?q=alpha")
    request("picture", "GET /picture/report.pdf%231?full=1", "Range: bytes=0-5")
    request("inspect", "GET /inspect/report.pdf%231")
    request("static", "HEAD /static/app.css", 'If-None-Match: "x"')
    request("login", "POST /login", fields, body="token=a")
    request("search", f"GET {search}")
    request("api-page", "GET /api/pages/report.pdf%231")
    request("upload", "POST /api/index", form, body=FORM)
    request("chunked", "POST /api/index", chunked, body="5\r\nhello\r\n0\r\n\r\n")
    write("http", "store", b"GET /api/store HTTP/1.0\r\nHost: localhost\r\n\r\n")


def request(name: str, line: str, *headers: str, body: str = "") -> None:
    """Write one request of HTTP/1.1; its length is told, unless it comes in chunks."""
    lines = [f"{line} HTTP/1.1", "Host: localhost", *headers, "Connection: close"]
    if body and "Transfer-Encoding: chunked" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    write("http", name, ("\r\n".join(lines) + "\r\n\r\n" + body).encode())


def shards() -> None:
    """Two pages with all that a page can have, and the same compressed, in floats, int8 and codes; their manifests."""
    pages = [_page(6, "a"), _page(9, "b")]
    with TemporaryDirectory() as folder:
        am.write_vectors(Path(folder) / "pages", pages, encoder={"name": "minilm", "dpi": 150})
        small = list(am.compress_pages(pages, "sem-cluster:m=3"))
        am.write_vectors(Path(folder) / "compressed", small, encoder={"name": "minilm"})
        for dtype in ("int8", "int4"):
            rounded = list(am.compress_pages(pages, f"sem-cluster:m=3+{dtype}"))
            am.write_vectors(Path(folder) / dtype, rounded)
        for kind in ("pages", "compressed", "int8", "int4"):
            write("shards", kind, (Path(folder) / kind / "shard-00000.safetensors").read_bytes())
            write("manifests", f"{kind}.json", (Path(folder) / kind / "manifest.json").read_bytes())


def _page(n: int, id: str) -> am.MultiVector:
    vectors = RANDOM.normal(size=(n, 4)).astype(np.float32)
    attention = RANDOM.random(n).astype(np.float32)
    boxes = np.ones((n, 4), np.float32)
    return am.MultiVector(vectors, attention, vectors[:2], (1, n), boxes, id)


def numpy_files() -> None:
    """One page, flat pages, a page an array, a batch; packed and not."""
    named = {f"p{i}": rows for i, rows in enumerate(ROWS)} | {"p0.attention": ATTENTION[0]}
    one = {
        "vectors": ROWS[0],
        "attention": ATTENTION[0],
        "grid": np.array([1, 3]),
        "extra": ROWS[1],
    }
    for name, arrays in {"flat": FLAT, "named": named, "one": one}.items():
        for save_as in (np.savez, np.savez_compressed):
            out = io.BytesIO()
            save_as(out, **arrays)
            write("numpy", f"{name}-{save_as.__name__}.npz", out.getvalue())
        write("safetensors", f"{name}.safetensors", save(arrays))
    out = io.BytesIO()
    np.save(out, np.ones((2, 3, 4), np.float16))
    write("numpy", "batch.npy", out.getvalue())


def tables() -> None:
    """Lists of lists of every kind, in the formats of Arrow."""
    kinds = {
        "list": pa.list_(pa.list_(pa.float32())),
        "fixed": pa.list_(pa.list_(pa.float32(), 4)),
        "large": pa.large_list(pa.large_list(pa.float64())),
    }
    for name, kind in kinds.items():
        vectors = pa.array([rows.astype(float).tolist() for rows in ROWS], kind)
        attention = pa.array([values.tolist() for values in ATTENTION])
        table = pa.table({"vectors": vectors, "attention": attention, "id": ["a", "b", "c"]})
        for packing in ("uncompressed", "lz4", "zstd"):
            out = io.BytesIO()
            pa.feather.write_feather(table, out, compression=packing)
            write("feather", f"{name}-{packing}.feather", out.getvalue())
        out = io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        write("arrow", f"{name}.arrow", out.getvalue())
        for packing in ("none", "snappy"):
            out = io.BytesIO()
            pa.parquet.write_table(table, out, compression=packing)
            write("parquet", f"{name}-{packing}.parquet", out.getvalue())


def tensors() -> None:
    """A page, pages in a list, a padded batch with its mask; and what an index of byaldi says of pages."""
    rows = [torch.from_numpy(page) for page in ROWS]
    batch = {"vectors": torch.ones(2, 3, 4), "mask": torch.tensor([[1, 1, 0], [1, 1, 1]])}
    contents = {"page": rows[0], "list": [page.bfloat16() for page in rows], "batch": batch}
    for name, content in contents.items():
        out = io.BytesIO()
        torch.save(content, out)
        write("pt", f"{name}.pt", out.getvalue())
    places = {i: {"doc_id": 0, "page_id": i + 1} for i in range(3)}
    write("byaldi", "places.json", json.dumps(places).encode())
    write("byaldi", "config.json", json.dumps({"model_name": "vidore/colqwen2-v1.0"}).encode())


def pictures() -> None:
    """Small pictures of every format and some modes."""
    colours = Image.fromarray(RANDOM.integers(256, size=(9, 12, 3), dtype=np.uint8))
    for format in ("PNG", "JPEG", "TIFF", "WEBP"):
        out = io.BytesIO()
        colours.save(out, format)
        write("images", f"rgb.{format.lower()}", out.getvalue())
    for mode in ("1", "P", "LA", "I;16", "CMYK"):
        out = io.BytesIO()
        picture = colours.convert("I").convert(mode) if mode == "I;16" else colours.convert(mode)
        picture.save(out, "TIFF" if mode == "CMYK" else "PNG")
        write("images", f"{mode.lower().replace(';', '')}.image", out.getvalue())
    out = io.BytesIO()
    colours.save(out, "TIFF", save_all=True, append_images=[colours] * 2, compression="tiff_lzw")
    write("images", "frames.tiff", out.getvalue())


def documents() -> None:
    """PDF with words, lines and a picture; packed and not."""
    for packed in (0, 1):
        out = io.BytesIO()
        canvas = Canvas(out, pagesize=(200, 100), invariant=1, pageCompression=packed)
        for text in ("alpha beta gam-", "delta é"):
            canvas.drawString(20, 60, text)
            canvas.line(10, 10, 190, 90)
            canvas.rotate(5)
            canvas.showPage()
        canvas.save()
        write("pdf", f"words-{packed}.pdf", out.getvalue())


def numbers() -> None:
    """Vectors for the kernels: a byte of dimensions, one of choices, float32."""
    for choices in range(4):
        vectors = RANDOM.normal(size=(20, 5)).astype(np.float32)
        write("kernels", f"normal-{choices}", bytes((4, choices)) + vectors.tobytes())
        twins = np.repeat(vectors[:4], 5, axis=0) * np.float32(10.0 ** (9 * choices))
        write("kernels", f"twins-{choices}", bytes((4, choices)) + twins.tobytes())


def pack() -> None:
    """All examples into one archive, in order and without dates."""
    with ZipFile(EXAMPLES, "w") as archive:
        for name, data in sorted(written.items()):
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)


if __name__ == "__main__":
    for write_examples in (shards, numpy_files, tables, tensors, pictures, documents, numbers):
        write_examples()
    texts()
    requests()
    pack()
