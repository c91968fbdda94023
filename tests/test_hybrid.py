"""Search by words and vectors: BM25 as Lucene computes it, and its share of the score of a page."""

import json
import math

import numpy as np
import pytest
from cli import run
from report_store import ANSWER, QUESTION
from stores import a_page

import adamerge as am
from adamerge.errors import BadInput
from adamerge.search import Ranking, WordsInMemory, rank_by_both
from adamerge.search.bm25 import terms_of
from adamerge.types import Word

TEXTS = {
    "a": "The storm cost us the pier. The storm!",
    "b": "The clock of the tower",
    "c": "A storm is a storm is a storm",
    "d": "",
}


@pytest.fixture
def words():
    held = WordsInMemory()
    for id, text in TEXTS.items():
        held.put(id, text.split())
    return held


def score_of(held, text):
    ids, scores = held.scores(text)
    return dict(zip(ids, scores.tolist(), strict=True))


def test_bm25_is_the_sum_that_one_computes_by_hand(words):
    # "storm" stands on 2 of 4 pages: twice on a, of 8 terms; the pages have 8, 5, 5 and 0 terms, 4.5 on average
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    on_a = idf * 2 / (2 + 1.5 * (0.25 + 0.75 * 8 / 4.5))
    on_c = idf * 3 / (3 + 1.5 * (0.25 + 0.75 * 5 / 4.5))
    found = score_of(words, "Storm?")
    assert found == {"a": pytest.approx(on_a), "b": 0, "c": pytest.approx(on_c), "d": 0}
    assert score_of(words, "storm storm")["a"] == pytest.approx(2 * on_a)


def test_bm25_equals_bm25s_on_random_pages():
    import bm25s

    rng = np.random.default_rng(3)
    vocabulary = [f"word{i}" for i in range(60)]
    texts = []
    for _ in range(40):
        drawn = rng.zipf(1.4, size=rng.integers(1, 90)) % len(vocabulary)
        texts.append(" ".join(vocabulary[i] for i in drawn))
    options = {"stopwords": None, "show_progress": False, "return_ids": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, **options), show_progress=False)

    held = WordsInMemory()
    for i, text in enumerate(texts):
        held.put(str(i), text.split())
    for query in ("word1 word2", "word7", "word3 word3 word40 word41"):
        known = [word for word in terms_of(query) if word in index.vocab_dict]
        np.testing.assert_allclose(held.scores(query)[1], index.get_scores(known), rtol=1e-5)


def test_a_page_that_is_replaced_or_dropped_counts_no_more(words):
    words.put("a", ["nothing", "of", "it"])
    words.drop("c")
    assert score_of(words, "storm") == {"a": 0, "b": 0, "d": 0}
    assert score_of(WordsInMemory(), "storm") == {}


def test_words_add_up_to_a_share_of_the_best_maxsim():
    by_vectors = Ranking([("a", 4.0), ("b", 3.9)], "exact", 3, 3)
    asked = []

    def score(ids):
        asked.extend(ids)
        return ids, np.array([3.5] * len(ids), np.float32)

    both = rank_by_both(
        by_vectors, ["a", "b", "c", "d"], np.array([0, 1, 2, 0], np.float32), score, 3
    )
    assert asked == ["c"]  # which the words propose; d has no word
    assert both.best == [
        ("b", pytest.approx(3.9 + 0.15 * 4 / 2)),
        ("c", pytest.approx(3.5 + 0.15 * 4)),
        ("a", 4.0),
    ]
    assert both.added_by_words == {"a": 0, "b": pytest.approx(0.3), "c": pytest.approx(0.6)}


def entry(i, text, **fields):
    told = tuple(Word(word, (0, 0, 1, 1)) for word in text.split())
    return am.Entry(a_page(i), source=f"file{i}.pdf", number=i, words=told, **fields)


@pytest.mark.parametrize("dtype", ["float16", "int4"])
def test_a_store_finds_by_both_what_all_scores_say_and_follows_every_change(tmp_path, dtype):
    query = np.ones((2, 8), np.float32)
    texts = {f"p{i}": "storm " * (i % 5) + "and more words" for i in range(90)}
    with am.open_store(tmp_path / "store", dtype=dtype) as store:
        store.add(entry(i, texts[f"p{i}"], metadata={"year": i}) for i in range(90))
        assert order(store, query, texts) == found(store, query, "")
        assert order(store, query, texts, 80) == found(store, query, "year >= 80")

        store.delete("p4", "p9")
        store.add(entry(7, "storm storm storm storm storm storm"))
        texts["p7"] = "storm storm storm storm storm storm"
        del texts["p4"], texts["p9"]
        assert order(store, query, texts) == found(store, query, "")

        (hit,) = store.search(query, 1, words="storm")
        similarities = sum(match.similarity for match in hit.matches)
        assert hit.score - hit.added_by_words == pytest.approx(similarities, rel=2e-2)


def order(store, query, texts, least=0):
    """The best ten pages by the formula, from the scores of all pages."""
    held = WordsInMemory()
    for id, text in texts.items():
        held.put(id, text.split())
    bm25 = {id: score for id, score in score_of(held, "storm").items() if int(id[1:]) >= least}
    maxsim = {hit.id: hit.score for hit in store.search(query, 90)}
    maxsim = {id: maxsim[id] for id in bm25}
    share = 0.15 * max(maxsim.values()) / max(bm25.values())
    return sorted(bm25, key=lambda id: (-(maxsim[id] + share * bm25[id]), id))[:10]


def found(store, query, where):
    return [hit.id for hit in store.search(query, 10, where, words="storm")]


def test_the_command_says_what_words_added(report_store):
    done = run("search", report_store, QUESTION, "--hybrid", "-k", "1", "--json")
    hit = json.loads(done.stdout)
    alone = json.loads(run("search", report_store, QUESTION, "-k", "1", "--json").stdout)
    assert hit["page"] == alone["page"] == ANSWER
    assert alone["added_by_words"] == 0
    assert hit["score"] == pytest.approx(alone["score"] + hit["added_by_words"], abs=1e-3)
    assert 0 < hit["added_by_words"] < 0.15 * alone["score"]  # another page has more of the words
    assert "every page compared, by vectors and words" in done.stderr


def test_what_cannot_be_searched_by_words_says_so(store):
    store.add(a_page(1))
    query = np.ones((2, 8))
    with pytest.raises(BadInput, match=r"by vectors alone.*(leave out --hybrid|adamerge copy)"):
        store.search(query, words="storm")
    with pytest.raises(BadInput, match="words must be a text for each query: 1 queries, got 'sto"):
        store.search_all([query], words="storm")
    with pytest.raises(BadInput, match=r"words must be a text, got bool: store\.search\(query"):
        store.search(query, words=True)
