"""Stores inside the frameworks that people build with: each finds the same page, with the real package."""

import asyncio
import base64
import io
import subprocess
import sys
from importlib import import_module

import pytest
from PIL import Image
from report_store import ANSWER, QUESTION
from server_store import make_store

import adamerge as am
from adamerge.adapters.retrieval import retrieve
from adamerge.errors import BadInput, NotFound

pytestmark = pytest.mark.xdist_group("agents")  # they share a store
SENTENCE = "The **storm** alone **cost** **410,000** crowns."


def adapter(name):
    """An adapter by its name: imported by the tests that need it, since a framework takes seconds."""
    return import_module(f"adamerge.adapters.{name}")


def check_metadata(metadata):
    assert metadata["source"] == "report.pdf"
    assert metadata["page"] == 5
    assert metadata["rank"] == 1
    assert metadata["snippet"] == SENTENCE
    assert metadata["year"] == 2026  # of the store
    assert metadata["score"] > 1


def check_picture(jpeg):
    with Image.open(io.BytesIO(jpeg)) as drawn:
        assert drawn.format == "JPEG"
        assert 1000 < max(drawn.size) <= 1600


@pytest.fixture(scope="module")
def store(report_store):
    with am.open_store(report_store) as opened:
        yield opened


# ---------------------------------------------------------------------------------------------------- LangChain


def standard_tests(store):
    """The tests that LangChain ships for retrievers, as methods of one object."""
    from langchain_tests.integration_tests import RetrieversIntegrationTests

    class Tests(RetrieversIntegrationTests):
        retriever_constructor = adapter("langchain").AdamergeRetriever
        retriever_constructor_params = {"store": store}  # noqa: RUF012
        retriever_query_example = QUESTION

    return Tests()


def test_the_standard_tests_of_langchain_pass(store):
    tests = standard_tests(store)
    retriever = adapter("langchain").AdamergeRetriever(store=store)
    tests.test_no_overrides_DO_NOT_OVERRIDE()
    tests.test_k_constructor_param()
    tests.test_invoke_with_k_kwarg(retriever)
    tests.test_invoke_returns_documents(retriever)
    asyncio.run(tests.test_ainvoke_returns_documents(retriever))
    assert len([name for name in dir(tests) if name.startswith("test_")]) == 5


def test_langchain_finds_the_page(store):
    from langchain_core.documents import Document

    retriever = adapter("langchain").AdamergeRetriever(store=store, k=1, pictures=True)
    (document,) = retriever.invoke(QUESTION)
    assert isinstance(document, Document)
    assert document.id == ANSWER
    assert "The storm alone cost 410,000 crowns." in document.page_content
    check_metadata(document.metadata)
    check_picture(base64.b64decode(document.metadata["picture"]))

    assert len(asyncio.run(retriever.ainvoke(QUESTION, k=2))) == 2
    assert retriever.invoke(QUESTION, where="year = 1999") == []


def test_langchain_opens_a_store_by_its_address(report_store, tmp_path):
    retriever = adapter("langchain").AdamergeRetriever(store=report_store, k=1)
    with retriever.store:
        (document,) = retriever.invoke(QUESTION)
    assert document.id == ANSWER
    assert "picture" not in document.metadata
    with pytest.raises(NotFound, match="there is no store at"):
        adapter("langchain").AdamergeRetriever(store=tmp_path / "nowhere")


# --------------------------------------------------------------------------------------------------- LlamaIndex


def test_llama_index_finds_the_page(store):
    from llama_index.core.schema import ImageNode, TextNode

    retriever = adapter("llama_index").AdamergeRetriever(store, similarity_top_k=1)
    (found,) = retriever.retrieve(QUESTION)
    assert type(found.node) is TextNode
    assert found.node_id == ANSWER
    assert found.score == found.metadata["score"]
    assert "The storm alone cost 410,000 crowns." in found.text
    check_metadata(found.metadata)

    pictured = adapter("llama_index").AdamergeRetriever(store, similarity_top_k=2, pictures=True)
    first, second = asyncio.run(pictured.aretrieve(QUESTION))
    assert first.node_id == ANSWER != second.node_id
    assert isinstance(first.node, ImageNode)
    check_picture(first.node.resolve_image().read())


# ----------------------------------------------------------------------------------------------------- Haystack


def test_haystack_finds_the_page_in_a_pipeline_that_was_saved_and_loaded(report_store):
    from haystack import Pipeline

    pipeline = Pipeline()
    retriever = adapter("haystack").AdamergeRetriever(report_store, top_k=1, pictures=True)
    pipeline.add_component("retriever", retriever)
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["adamerge.adapters.haystack"])

    (document,) = loaded.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    assert document.id == ANSWER
    assert document.score == document.meta["score"]
    assert "The storm alone cost 410,000 crowns." in document.content
    check_metadata(document.meta)
    assert document.blob.mime_type == "image/jpeg"
    check_picture(document.blob.data)

    asked = {"retriever": {"query": QUESTION, "top_k": 2}}
    found = asyncio.run(loaded.run_async(asked))
    assert len(found["retriever"]["documents"]) == 2


# ---------------------------------------------------------------------------------------------------- all alike


def test_every_framework_can_search_by_words_too(store, report_store):
    expected = store.search(QUESTION, 3, words=QUESTION)
    assert expected[0].added_by_words > 0
    scores = {hit.id: pytest.approx(hit.score) for hit in expected}

    langchain = adapter("langchain").AdamergeRetriever(store=store, k=3, hybrid=True)
    documents = langchain.invoke(QUESTION)
    assert {document.id: document.metadata["score"] for document in documents} == scores

    llama_index = adapter("llama_index").AdamergeRetriever(store, similarity_top_k=3, hybrid=True)
    assert {node.node_id: node.score for node in llama_index.retrieve(QUESTION)} == scores

    haystack = adapter("haystack").AdamergeRetriever(report_store, top_k=3, hybrid=True)
    assert haystack.to_dict()["init_parameters"]["hybrid"] is True
    documents = haystack.run(QUESTION)["documents"]
    assert {document.id: document.score for document in documents} == scores


def test_a_page_whose_file_is_gone_has_the_picture_of_the_store(tmp_path, light_by_name):
    address = make_store(tmp_path)
    (tmp_path / "private-folder" / "report.pdf").unlink()
    with am.open_store(address, encoder="light") as store:
        (page,) = retrieve(store, "delta", k=1, pictures=True)
        (entry,) = store.get([page.id])
    with (
        Image.open(io.BytesIO(page.picture)) as sent,
        Image.open(io.BytesIO(entry.thumbnail)) as kept,
    ):
        assert sent.format == "JPEG"
        assert sent.size == kept.size


def test_what_is_wrong_with_a_query_is_said_as_everywhere(store):
    with pytest.raises(BadInput, match="is not SQL"):
        adapter("llama_index").AdamergeRetriever(store, where="year =").retrieve(QUESTION)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_without_the_framework_the_error_names_the_extra(name, package, extra):
    code = f"import sys; sys.modules['{package}'] = None; import adamerge.adapters.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"needs the '{extra}' extra: pip install 'adamerge[{extra}]'" in done.stderr
