"""A dataset: pages, queries, and judgements that say which pages answer which query."""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from adamerge.errors import BadFile
from adamerge.types import Page

Judgements = Mapping[str, Mapping[str, int]]  # query id -> page id -> grade, 1 or more
ReadPages = Callable[[Container[str]], Iterator[Page]]
# the folder in which results keep what they know of datasets
RESERVED = "datasets"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Pages, queries and judgements under a name.

    name        also the name of a folder of results, so never empty
    page_ids    every page once, in order
    queries     query id -> text; every query has a judgement
    judgements  query id -> page id -> grade, 1 or more
    read        reads the pages whose ids are not in a container, one at a time
    texts       reads page id -> text; empty where pages have no text layer
    source      a short hash of what the pages are made from
    """

    name: str
    page_ids: tuple[str, ...]
    queries: Mapping[str, str]
    judgements: Judgements
    read: ReadPages
    texts: Callable[[], Mapping[str, str]] = dict
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be evaluated, with the first page or query that is wrong."""
        if self.name in ("", RESERVED):
            raise BadFile(f"a dataset cannot be called '{self.name}': rename its folder")
        if not self.queries or not self.page_ids:
            raise BadFile(
                f"{self.name} has {len(self.page_ids)} pages and {len(self.queries)} queries: "
                "nothing to judge"
            )

        pages = set(self.page_ids)
        judged: set[str] = set()
        for grades in self.judgements.values():
            judged |= grades.keys()
        page_counts = Counter(self.page_ids)

        unpaired = sorted(set(self.queries) ^ set(self.judgements))
        empty = [query for query, text in self.queries.items() if not text.strip()]
        repeated = [page for page, count in page_counts.items() if count > 1]
        unknown = sorted(judged - pages)
        self._refuse(unpaired, "query '{}' has no text or no judgement")
        self._refuse(empty, "query '{}' is empty")
        self._refuse(repeated, "page '{}' is there more than once")
        self._refuse(unknown, "'{}' is judged and is no page")

    def _refuse(self, wrong: list[str], message: str) -> None:
        if wrong:
            raise BadFile(f"{self.name}: {message.format(wrong[0])} ({len(wrong)} such)")

    def __len__(self) -> int:
        """Pages of the dataset."""
        return len(self.page_ids)

    @property
    def identity(self) -> str:
        """A hash, in sixteen letters, of what every result depends on.

        It is of the pages and queries in their order, and of the graded judgements.
        """
        judged = [sorted(self.judgements[query].items()) for query in self.queries]
        text = json.dumps([self.page_ids, list(self.queries.items()), judged])
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def pairs(self) -> int:
        """Judgements of the dataset: pairs of a query and a page."""
        return sum(map(len, self.judgements.values()))
