"""Local folders of Parquet files in the schemas of ViDoRe -> datasets. Needs the extras `arrow` and `pdf`.

BEIR   corpus/ (corpus-id, image), queries/ (query-id, query), qrels/ (query-id, corpus-id, score)     ViDoRe v2, v3
       and v1 as mteb has it; v3 has the three once per language: english-corpus/ ...
flat   rows of query, image, image_filename: the page that answers stands beside its query              ViDoRe v1
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from os.path import abspath
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, missing_extra
from adamerge.evaluate.datasets import Dataset
from adamerge.files import fingerprint
from adamerge.types import Page

PARTS = ("corpus", "queries", "qrels")
PAGE_ID = ("corpus-id", "_id", "id")
QUERY_ID = ("query-id", "_id", "id")
QUERY = ("query", "text")
QRELS = ["query-id", "corpus-id", "score"]
TEXT = ("markdown", "text")
FLAT_ID = ("image_filename", "page_id", "image_id")

Read = Callable[[Container[str]], Iterator[Page]]


def read(folder: Path, name: str = "", languages: Sequence[str] = ()) -> Dataset:
    """The dataset of a folder, in either schema; of a multilingual one, the queries in these languages or in all."""
    name = name or Path(abspath(folder)).name
    prefixes = sorted(
        path.name.removesuffix("corpus") for path in folder.glob("*corpus") if path.is_dir()
    )
    if not prefixes and languages:
        raise BadFile(
            f"{folder} has rows of query and image, and no languages: leave out ':{languages[0]}'"
        )
    if not prefixes:
        return _flat(folder, name)
    if prefixes == [""]:
        return _beir(folder, name, "", languages)
    chosen = [prefix for prefix in prefixes if not languages or prefix.rstrip("-") in languages]
    if not chosen:
        raise BadFile(
            f"{folder} has {', '.join(p.rstrip('-') for p in prefixes)}, none of {', '.join(languages)}"
        )
    return _joined(name, [_beir(folder, name, prefix, ()) for prefix in chosen], chosen)


def _beir(folder: Path, name: str, prefix: str, languages: Sequence[str]) -> Dataset:
    corpus, queries, qrels = ([*_files(folder / f"{prefix}{part}")] for part in PARTS)
    key = _column(corpus, PAGE_ID)
    texts = _asked(queries, languages)
    grades = {
        (str(r["query-id"]), str(r["corpus-id"])): _grade(r["score"], qrels[0])
        for r in _rows(qrels, QRELS)
    }
    judged: dict[str, dict[str, int]] = {}
    for (
        query,
        page,
    ), grade in grades.items():  # of a page that is judged twice the last, as mteb reads it
        if query in texts and grade > 0:
            judged.setdefault(query, {})[page] = grade
    ids = tuple(str(row[key]) for row in _rows(corpus, [key]))
    texts = {id: text for id, text in texts.items() if id in judged}  # nobody has judged the others
    words = _texts(corpus, key)
    return Dataset(name, ids, texts, judged, _reader(corpus, key), words, _fingerprint(corpus))


def _asked(files: Sequence[Path], languages: Sequence[str]) -> dict[str, str]:
    """The queries in these languages, or all."""
    id, text = _column(files, QUERY_ID), _column(files, QUERY)
    texts: dict[str, str] = {}
    for row in _rows(files, [id, text, *(["language"] if languages else [])]):
        if not languages or row["language"] in languages:
            query, asked = str(row[id]), str(row[text] or "")
            if texts.setdefault(query, asked) != asked:
                raise BadFile(
                    f"{files[0]}: query '{query}' is there twice, as {texts[query]!r} and as {asked!r}"
                )
    return texts


def _grade(score: Any, file: Path) -> int:
    if not isinstance(score, int | float) or score % 1:  # nan % 1 is nan, and no zero
        raise BadFile(
            f"{file}: a score is a whole number, 0 where a page does not answer, got {score}"
        )
    return int(score)


def _flat(folder: Path, name: str) -> Dataset:
    """Pages by the name of their image, each once; equal queries are one query."""
    files = [*_files(folder / "data" if (folder / "data").is_dir() else folder)]
    key = _column(files, FLAT_ID)
    pages: dict[str, None] = {}
    numbers: dict[str, str] = {}
    judged: dict[str, dict[str, int]] = {}
    for row in _rows(files, ["query", key]):
        pages[str(row[key])] = None
        if row["query"]:
            query = numbers.setdefault(str(row["query"]), f"q{len(numbers):05d}")
            judged.setdefault(query, {})[str(row[key])] = 1
    queries = {id: text for text, id in numbers.items()}
    return Dataset(
        name, tuple(pages), queries, judged, _reader(files, key), dict, _fingerprint(files)
    )


def _fingerprint(files: Sequence[Path]) -> str:
    return fingerprint(*((file.name, file) for file in files))


def _joined(name: str, parts: Sequence[Dataset], prefixes: Sequence[str]) -> Dataset:
    """One dataset of several languages, which share their pages."""
    first = parts[0]
    labelled = list(zip(prefixes, parts, strict=True))
    queries = {f"{p}{id}": text for p, part in labelled for id, text in part.queries.items()}
    judged = {f"{p}{id}": grades for p, part in labelled for id, grades in part.judgements.items()}
    return Dataset(name, first.page_ids, queries, judged, first.read, first.texts, first.source)


def _reader(files: Sequence[Path], key: str) -> Read:
    """The pages of the image column, each once, opened when they are asked for."""

    def pages(done: Container[str] = ()) -> Iterator[Page]:
        seen: set[str] = set()
        for row in _rows(files, [key, "image"]):
            id = str(row[key])
            if id not in seen and id not in done:
                seen.add(id)
                yield Page(id, _image(row["image"], id), (), files[0].parent.name, len(seen))

    _require(files, ["image"])
    return pages


def _texts(files: Sequence[Path], key: str) -> Callable[[], Mapping[str, str]]:
    """The text of each page, where the corpus has a column of it."""
    names = _names(files)
    column = next((name for name in TEXT if name in names), None)
    return (
        dict
        if column is None
        else lambda: {str(r[key]): r[column] or "" for r in _rows(files, [key, column])}
    )


def _image(value: Any, id: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("reading pages", "pdf") from None
    try:
        return Image.open(BytesIO(value["bytes"])).convert("RGB")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadFile(f"page '{id}' has no image that can be read ({error})") from None


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise BadFile(
            f"{folder} holds no Parquet files: expected corpus/, queries/ and qrels/, or rows of query and image"
        )
    return found


def _rows(files: Sequence[Path], columns: list[str]) -> Iterator[dict[str, Any]]:
    """These columns of the rows of all files, a few rows at a time: images are large."""
    _require(files, columns)
    for file in files:
        with _reading(file) as parquet:
            for batch in parquet.iter_batches(batch_size=16, columns=columns):
                yield from batch.to_pylist()


def _require(files: Sequence[Path], columns: Sequence[str]) -> None:
    for file in files:
        for column in columns:
            _column([file], [column])


def _names(files: Sequence[Path]) -> list[str]:
    with _reading(files[0]) as parquet:
        return list(parquet.schema_arrow.names)


@contextmanager
def _reading(file: Path) -> Iterator[Any]:
    """A Parquet file, open; what is wrong with it is said with its name."""
    arrow = _arrow()
    try:
        yield arrow.parquet.ParquetFile(file)
    except (arrow.ArrowException, OSError) as error:
        raise BadFile(
            f"{file} cannot be read as Parquet ({str(error).splitlines()[0]}): get it again"
        ) from None


def _column(files: Sequence[Path], choices: Sequence[str]) -> str:
    names = _names(files)
    for name in choices:
        if name in names:
            return name
    raise BadFile(
        f"{files[0]} has the columns {', '.join(names)}, and none of {', '.join(choices)}"
    )


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise missing_extra("reading Parquet", "arrow") from None
    return pyarrow
