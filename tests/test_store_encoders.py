"""What every store does with the encoder that made its pages: records it, refuses another, encodes queries by it."""

import numpy as np
import pytest
from stores import ENCODER, D, a_page, a_query

from adamerge.encoders import EncoderSpec
from adamerge.errors import BadInput, Mismatch, UnknownName


class Letters:
    @property
    def about(self):
        return {"name": "letters", "revision": "1"}

    def encode_queries(self, texts):
        return [np.eye(D)[[ord(letter) % D for letter in text]] for text in texts]


def test_text_needs_an_encoder_that_the_store_knows_or_is_given(opened):
    with opened() as store:
        store.add(a_page(i) for i in range(4))
        with pytest.raises(BadInput, match="does not know which encoder"):
            store.search("abc")
    with opened(encoder=Letters()) as store:
        by_text, by_vectors = (
            store.search("abc"),
            store.search(Letters().encode_queries(["abc"])[0]),
        )
        assert [(hit.id, hit.score) for hit in by_text] == [
            (hit.id, hit.score) for hit in by_vectors
        ]


def test_an_encoder_may_say_what_it_likes_but_not_how_many_pages_there_are(opened):
    with opened(encoder=ENCODER | {"pages": 99, "colour": "blue"}) as store:
        store.add(a_page(1))
        facts = store.facts()
    assert (facts["pages"], facts["colour"]) == (1, "blue")


def test_an_encoder_that_is_refused_does_not_encode_queries(opened):
    with opened(encoder=ENCODER) as store:
        store.add(a_page(1))
        with pytest.raises(Mismatch, match="its name is test, not letters"):
            store.set_encoder(Letters())
        with pytest.raises(UnknownName, match="no encoder 'test'"):
            store.search("abc")


def test_an_encoder_that_is_only_named_is_not_loaded_to_store_pages_or_search_by_vectors(
    opened, monkeypatch
):
    monkeypatch.setattr(EncoderSpec, "load", None)
    name = "vidore/colqwen2.5-v0.2"
    with opened(encoder=name) as store:
        store.add(a_page(i) for i in range(3))
        assert len(store.search(a_query(), 2)) == 2
    with opened(encoder=name) as store:
        assert store.about.encoder["name"] == name
    with pytest.raises(Mismatch, match=r"its name is vidore/colqwen2.5-v0.2, not minilm"):
        opened(encoder="minilm")


def test_queries_get_the_prefix_that_the_store_records_or_another_one(opened):
    made_by = {"name": "vidore/colqwen2.5-v0.2", "options": {}, "query prefix": ""}
    with opened(encoder=made_by) as store:
        store.add(a_page(1))
        assert store.encoder_spec().options == {
            "query_prefix": ""
        }  # made before there was a default
        store.set_query_prefix("Query: ")
        assert store.encoder_spec().options == {"query_prefix": "Query: "}
