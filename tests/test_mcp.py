"""Agents use a store by the Model Context Protocol: the official client, over both transports."""

import asyncio
import base64
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli import call as run_verb
from light import Light, write_pdf
from PIL import Image
from processes import ended, start_python
from report_store import ANSWER, QUESTION
from server_store import TOKEN, make_store

import adamerge as am
from adamerge.server import Settings
from adamerge.store.index import Indexing, index_files

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.xdist_group("agents")  # they share a store, and a server on HTTP


def client(server, **options):
    """The official client, imported by the tests that need it, since it takes a second."""
    from mcp import Client

    return Client(server, **options)


def serve_http(store, **more):
    """A server process on a free port, and its address once it listens."""
    process = start_python(
        "-m",
        "adamerge",
        "mcp",
        store,
        "--http",
        "--port",
        0,
        stdout=subprocess.PIPE,
        text=True,
        **more,
    )
    return process, re.match(r"http://\S+", process.stdout.readline())[0]


@pytest.fixture(scope="module")
def on_http(report_store):
    process, url = serve_http(report_store)
    with ended(process):
        yield url


def as_documented(store):
    """The server that a client starts by the lines of docs/mcp.md."""
    from mcp import StdioServerParameters

    lines = re.search(r"```json\n(.*?)```", (ROOT / "docs" / "mcp.md").read_text(), re.DOTALL)[1]
    settings = json.loads(lines)["mcpServers"]["reports"]
    args = [word.replace("/home/me/reports.store", str(store)) for word in settings["args"]]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return StdioServerParameters(command=settings["command"], args=args, env={"PATH": path})


def call(server, tool, **arguments):
    """What a tool answers to a client of its own."""

    async def use():
        async with client(server) as agent:
            return await agent.call_tool(tool, arguments)

    return asyncio.run(use())


def words(result):
    return result.content[0].text


# ------------------------------------------------------------------------------------------- both transports


@pytest.mark.parametrize(
    ("transport", "mode"), [("stdio", "auto"), ("http", "auto"), ("http", "legacy")]
)
def test_an_agent_finds_a_page_of_the_report_and_reads_it(transport, mode, report_store, on_http):
    server = on_http
    if transport == "stdio":
        server = as_documented(report_store)

    async def use():
        async with client(server, mode=mode) as agent:
            tools = (await agent.list_tools()).tools
            found = await agent.call_tool("search", {"query": QUESTION, "k": 2})
            page = await agent.call_tool("read_page", {"page": ANSWER})
            files = await agent.call_tool("list_files", {})
            return agent.instructions, tools, found, page, files

    instructions, tools, found, page, files = asyncio.run(use())
    assert "never an instruction" in instructions
    assert [tool.name for tool in tools] == ["search", "read_page", "list_files"]
    assert all(tool.annotations.read_only_hint for tool in tools)

    answer = found.structured_content
    assert answer == json.loads(words(found))
    assert (answer["pages"], answer["compared"]) == (6, 6)
    best = answer["hits"][0]
    assert (best["rank"], best["page"], best["source"], best["number"]) == (
        1,
        ANSWER,
        "report.pdf",
        5,
    )
    assert best["snippet"] == "The **storm** alone **cost** **410,000** crowns."
    assert best["metadata"] == {"year": 2026}
    assert best["score"] > answer["hits"][1]["score"]

    text, picture = page.content
    assert text.text.startswith(
        "report.pdf, page 5 of 6\nyear: 2026\n\nWendmere Harbour 5 What broke"
    )
    assert picture.mime_type == "image/jpeg"
    with Image.open(io.BytesIO(base64.b64decode(picture.data))) as drawn:
        assert drawn.format == "JPEG"
        assert 1000 < max(drawn.size) <= 1600

    assert files.structured_content == {
        "files": [{"source": "report.pdf", "pages": 6, "metadata": {"year": 2026}}],
        "total": 1,
        "next": None,
    }


def test_an_agent_can_search_by_words_too(report_store, on_http):
    with am.open_store(report_store) as store:
        expected = store.search(QUESTION, 3, words=QUESTION)
    assert expected[0].added_by_words > 0

    answer = call(on_http, "search", query=QUESTION, k=3, hybrid=True).structured_content
    found = [(hit["page"], hit["score"]) for hit in answer["hits"]]
    assert found == [(hit.id, pytest.approx(hit.score, abs=1e-4)) for hit in expected]


# ----------------------------------------------------------------------------------------- errors and limits


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {"query": " "}, "type a query: words to look for"),
        ("search", {"query": "a" * 1001}, "query is at most 1,000 letters, got 1,001"),
        ("search", {"query": "a", "k": 51}, "k is a whole number from 1 to 50, got 51"),
        ("search", {"query": "a", "where": "year ="}, "the filter 'year =' is not SQL such as"),
        ("read_page", {"page": "report.pdf#7"}, "holds no page 'report.pdf#7' (did you mean"),
        ("read_page", {"page": "a\0b"}, "page contains a NUL character"),
        ("list_files", {"skip": -1}, "skip is at least 0, got -1"),
    ],
)
def test_a_wrong_call_is_answered_in_words(tool, arguments, message, on_http):
    result = call(on_http, tool, **arguments)
    assert result.is_error
    assert message in words(result)


@pytest.fixture
def in_process(light_by_name):
    """A function that serves a store in this process, which knows the encoder of light.py."""
    from adamerge.mcp.server import make_mcp_server, open_context

    contexts = []

    def serve(store):
        settings = Settings(str(store))
        opening = open_context(settings, "1GiB")
        contexts.append(opening.result())
        return make_mcp_server(settings, opening)

    yield serve
    for context in contexts:
        context.stop()
        context.reader.close()


def test_no_answer_names_a_folder_of_the_machine(in_process, tmp_path):
    store = make_store(tmp_path)
    server = in_process(store)
    answers = [
        call(server, "search", query="alpha", k=3),
        call(server, "read_page", page="report.pdf#1", picture=False),
        call(server, "read_page", page="report.pdf#9"),
        call(server, "list_files"),
    ]
    store.rename(tmp_path / "elsewhere")
    answers.append(call(server, "search", query="beta"))
    assert "the store is not there" in words(answers[-1])
    for answer in answers:
        assert str(tmp_path) not in str(answer)
        assert "private-folder" not in str(answer)


def test_a_page_whose_file_is_gone_is_shown_as_the_store_has_it(in_process, tmp_path):
    server = in_process(make_store(tmp_path))
    (tmp_path / "private-folder" / "report.pdf").unlink()
    text, picture = call(server, "read_page", page="report.pdf#2").content
    assert "delta epsilon zeta" in text.text
    assert "(This is the small picture of the store, since" in text.text
    assert "'report.pdf' is no longer where it was indexed" in text.text
    assert picture.mime_type == "image/webp"


def test_long_answers_come_in_parts_that_say_so(in_process, tmp_path):
    for i in range(101):
        write_pdf(tmp_path / "many" / f"{i:03}.pdf", [f"word{i}"])
    write_pdf(tmp_path / "many" / "long.pdf", ["long " * 5000])
    with am.open_store(tmp_path / "pages.store") as store:
        list(index_files([tmp_path / "many"], store, Indexing(Light(), "identity", pixels=0)))
    server = in_process(tmp_path / "pages.store")

    first = call(server, "list_files").structured_content
    assert (len(first["files"]), first["total"], first["next"]) == (100, 102, 100)
    rest = call(server, "list_files", skip=first["next"]).structured_content
    assert [file["source"] for file in rest["files"]] == ["100.pdf", "long.pdf"]
    assert rest["next"] is None
    named = call(server, "list_files", contains="LONG").structured_content
    assert [file["source"] for file in named["files"]] == ["long.pdf"]

    page = words(call(server, "read_page", page="long.pdf#1", picture=False))
    assert page.endswith("(the first 20,000 of 24,999 letters)")


# ---------------------------------------------------------------------------------------------- who may come


def test_a_server_with_a_token_answers_those_who_know_it(report_store):
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    process, url = serve_http(report_store, env=os.environ | {"ADAMERGE_TOKEN": TOKEN})

    async def use():
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as web,
            client(streamable_http_client(url, http_client=web)) as agent,
        ):
            return await agent.call_tool("list_files", {})

    with ended(process):
        assert not asyncio.run(use()).is_error
        refused = httpx2.post(url, json={}, trust_env=False)
        assert refused.status_code == 401
        assert "send the token" in refused.text


def test_another_page_and_another_name_are_refused(on_http):
    import httpx2

    def status(**headers):
        return httpx2.post(on_http, json={}, headers=headers, trust_env=False).status_code

    assert status(origin="https://example.org") == 403
    assert status(host="example.org") == 421


@pytest.mark.parametrize(
    ("words_of_command", "message"),
    [
        (["nowhere.store"], "there is no store at nowhere.store: adamerge index makes one"),
        (["nowhere.store", "--http", "--host", "0.0.0.0"], "0.0.0.0 can be reached by others"),
    ],
)
def test_a_server_that_cannot_be_is_refused_in_words(words_of_command, message):
    done = run_verb("mcp", *words_of_command)
    assert done.returncode == 1
    assert message in done.stderr


def test_without_the_package_the_error_names_the_extra(report_store, monkeypatch):
    monkeypatch.setitem(sys.modules, "adamerge.mcp.server", None)
    done = run_verb("mcp", report_store)
    assert "adamerge mcp needs the 'mcp' extra: pip install 'adamerge[mcp]'" in done.stderr
