"""A local folder of Parquet files in a schema of ViDoRe -> a dataset. Needs the extras `arrow` and `pdf`.

BEIR   corpus/ (corpus-id, image), queries/ (query-id, query), qrels/ (query-id, corpus-id, score)     ViDoRe v2, v3
       and v1 as mteb has it; v3 has the three once per language: english-corpus/ ...
flat   rows of query, image, image_filename: the page that answers stands beside its query              ViDoRe v1
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from io import BytesIO
from os.path import abspath
from pathlib import Path
from typing import Any

from adamerge.errors import BadFile, missing_extra
from adamerge.evaluate.data.dataset import Dataset, ReadPages
from adamerge.evaluate.data.parquet_rows import (
    column_names,
    first_column_of,
    parquet_files,
    read_rows,
    require_columns,
)
from adamerge.files import fingerprint
from adamerge.types import Page

# columns by the names that publishers give them, the most usual first
PAGE_ID = ("corpus-id", "_id", "id")
QUERY_ID = ("query-id", "_id", "id")
QUERY = ("query", "text")
JUDGEMENT = ["query-id", "corpus-id", "score"]
TEXT = ("markdown", "text")
FLAT_PAGE_ID = ("image_filename", "page_id", "image_id")


def read_parquet_folder(folder: Path, name: str = "", languages: Sequence[str] = ()) -> Dataset:
    """The dataset of a folder, in either schema; with `languages`, only the queries in these."""
    name = name or Path(abspath(folder)).name
    prefixes = _language_prefixes(folder)

    if not prefixes and languages:
        raise BadFile(
            f"{folder} has rows of query and image, and no languages: leave out ':{languages[0]}'"
        )
    if not prefixes:
        return _read_flat(folder, name)
    if prefixes == [""]:
        return _read_beir(folder, name, "", languages)

    by_language = {}
    for prefix in prefixes:
        if not languages or prefix.rstrip("-") in languages:
            by_language[prefix] = _read_beir(folder, name, prefix, ())
    if not by_language:
        there = ", ".join(prefix.rstrip("-") for prefix in prefixes)
        raise BadFile(f"{folder} has {there}, none of {', '.join(languages)}")
    return _joined(name, by_language)


def _language_prefixes(folder: Path) -> list[str]:
    """The names of the folders of pages without 'corpus': '' or 'english-', ...; none in the flat schema."""
    prefixes = []
    for path in folder.glob("*corpus"):
        if path.is_dir():
            prefixes.append(path.name.removesuffix("corpus"))
    return sorted(prefixes)


def _read_beir(folder: Path, name: str, prefix: str, languages: Sequence[str]) -> Dataset:
    corpus = parquet_files(folder / f"{prefix}corpus")
    query_files = parquet_files(folder / f"{prefix}queries")
    judgement_files = parquet_files(folder / f"{prefix}qrels")

    page_column = first_column_of(corpus, PAGE_ID)
    asked = _read_queries(query_files, languages)
    judgements = _read_judgements(judgement_files, asked)
    return Dataset(
        name=name,
        page_ids=tuple(str(row[page_column]) for row in read_rows(corpus, [page_column])),
        queries={query: text for query, text in asked.items() if query in judgements},
        judgements=judgements,
        read=_page_reader(corpus, page_column),
        texts=_text_reader(corpus, page_column),
        source=_fingerprint(corpus),
    )


def _read_queries(files: Sequence[Path], languages: Sequence[str]) -> dict[str, str]:
    """The queries in these languages, or all."""
    id_column = first_column_of(files, QUERY_ID)
    text_column = first_column_of(files, QUERY)
    columns = [id_column, text_column]
    if languages:
        columns.append("language")

    queries: dict[str, str] = {}
    for row in read_rows(files, columns):
        if languages and row["language"] not in languages:
            continue
        query = str(row[id_column])
        text = str(row[text_column] or "")
        if queries.setdefault(query, text) != text:
            raise BadFile(
                f"{files[0]}: query '{query}' is there twice, as {queries[query]!r} and as {text!r}"
            )
    return queries


def _read_judgements(files: Sequence[Path], queries: Container[str]) -> dict[str, dict[str, int]]:
    """The grades above 0 of these queries; of a page that is judged twice the last one, as mteb reads it."""
    grades: dict[tuple[str, str], int] = {}
    for row in read_rows(files, JUDGEMENT):
        pair = str(row["query-id"]), str(row["corpus-id"])
        grades[pair] = _grade(row["score"], files[0])

    judgements: dict[str, dict[str, int]] = {}
    for (query, page), grade in grades.items():
        if query in queries and grade > 0:
            judgements.setdefault(query, {})[page] = grade
    return judgements


def _grade(score: Any, file: Path) -> int:
    if not isinstance(score, int | float) or score % 1:  # nan % 1 is nan, and no zero
        raise BadFile(
            f"{file}: a score is a whole number, 0 where a page does not answer, got {score}"
        )
    return int(score)


def _read_flat(folder: Path, name: str) -> Dataset:
    """Pages by the name of their image, each once; equal queries are one query."""
    data = folder / "data"
    files = parquet_files(data if data.is_dir() else folder)
    page_column = first_column_of(files, FLAT_PAGE_ID)

    pages: dict[str, None] = {}
    ids: dict[str, str] = {}
    judgements: dict[str, dict[str, int]] = {}
    for row in read_rows(files, ["query", page_column]):
        page = str(row[page_column])
        pages[page] = None
        if row["query"]:
            query = ids.setdefault(str(row["query"]), f"q{len(ids):05d}")
            judgements.setdefault(query, {})[page] = 1

    return Dataset(
        name=name,
        page_ids=tuple(pages),
        queries={id: text for text, id in ids.items()},
        judgements=judgements,
        read=_page_reader(files, page_column),
        source=_fingerprint(files),
    )


def _joined(name: str, by_language: Mapping[str, Dataset]) -> Dataset:
    """One dataset of several languages, which share their pages."""
    queries: dict[str, str] = {}
    judgements: dict[str, Mapping[str, int]] = {}
    for prefix, dataset in by_language.items():
        for query, text in dataset.queries.items():
            queries[prefix + query] = text
            judgements[prefix + query] = dataset.judgements[query]

    first = next(iter(by_language.values()))
    return Dataset(name, first.page_ids, queries, judgements, first.read, first.texts, first.source)


def _fingerprint(files: Sequence[Path]) -> str:
    return fingerprint(*((file.name, file) for file in files))


def _page_reader(files: Sequence[Path], id_column: str) -> ReadPages:
    """A function that reads the pages of the image column, each once."""
    require_columns(files, ["image"])

    def read(done: Container[str] = ()) -> Iterator[Page]:
        seen: set[str] = set()
        for row in read_rows(files, [id_column, "image"]):
            id = str(row[id_column])
            if id in seen or id in done:
                continue
            seen.add(id)
            yield Page(id, _image(row["image"], id), (), files[0].parent.name, len(seen))

    return read


def _text_reader(files: Sequence[Path], id_column: str) -> Callable[[], Mapping[str, str]]:
    """A function that reads the text of each page; it gives nothing where the corpus has no column of text."""
    if not set(TEXT) & set(column_names(files)):
        return dict
    column = first_column_of(files, TEXT)

    def read() -> Mapping[str, str]:
        rows = read_rows(files, [id_column, column])
        return {str(row[id_column]): row[column] or "" for row in rows}

    return read


def _image(value: Any, id: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("reading pages", "pdf") from None

    try:
        return Image.open(BytesIO(value["bytes"])).convert("RGB")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadFile(f"page '{id}' has no image that can be read ({error})") from None
