"""A dataset: pages, queries, and judgements that say which pages answer which query."""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from adamerge.errors import BadFile
from adamerge.types import Page

Judgements = Mapping[str, Mapping[str, int]]  # query id -> page id -> grade, 1 or more


@dataclass(frozen=True, eq=False)
class Dataset:
    """Pages, queries and judgements under a name.

    name        also that of a folder of results, so never empty
    page_ids    every page once, in order
    queries     query id -> text; every query has a judgement
    judgements  query id -> page id -> grade, 1 or more
    read        the pages that are not in a container of ids, read when they are asked for
    texts       page id -> text where pages have a text layer, read when asked for; empty where they have none
    source      what the pages are made from, in a few letters
    """

    name: str
    page_ids: tuple[str, ...]
    queries: Mapping[str, str]
    judgements: Judgements
    read: Callable[[Container[str]], Iterator[Page]]
    texts: Callable[[], Mapping[str, str]] = dict
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a dataset without name or queries, an empty query, a page twice, judgements of what is not there."""
        if self.name in (
            "",
            "datasets",
        ):  # results keep what they know of datasets in a folder of this name
            raise BadFile(f"a dataset cannot be called '{self.name}': rename its folder")
        if not self.queries or not self.page_ids:
            raise BadFile(
                f"{self.name} has {len(self.page_ids)} pages and {len(self.queries)} queries: nothing to judge"
            )
        if lost := sorted(set(self.queries) ^ set(self.judgements)):
            raise BadFile(
                f"{self.name}: query '{lost[0]}' has no text or no judgement ({len(lost)} such)"
            )
        if blank := [query for query, text in self.queries.items() if not text.strip()]:
            raise BadFile(f"{self.name}: query '{blank[0]}' is empty ({len(blank)} such)")
        if twice := [page for page, count in Counter(self.page_ids).items() if count > 1]:
            raise BadFile(
                f"{self.name}: page '{twice[0]}' is there more than once ({len(twice)} such)"
            )
        named = {page for grades in self.judgements.values() for page in grades}
        if strange := sorted(named - set(self.page_ids)):
            raise BadFile(
                f"{self.name}: '{strange[0]}' is judged and is no page ({len(strange)} such)"
            )

    def __len__(self) -> int:
        """Pages of the dataset."""
        return len(self.page_ids)

    @property
    def identity(self) -> str:
        """What every result depends on, in sixteen letters: pages and queries in their order, and graded judgements."""
        judged = [sorted(self.judgements[query].items()) for query in self.queries]
        text = json.dumps([self.page_ids, list(self.queries.items()), judged])
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def pairs(self) -> int:
        """Judgements of the dataset."""
        return sum(map(len, self.judgements.values()))
