"""Tensors that torch saved, and the index folders of byaldi."""

import builtins
import gzip
import os
import pickle
import zipfile

import numpy as np
import pytest
from byaldi_index import write_index, write_json
from cli import call, lines
from later import needs_torch, torch

import adamerge as am
from adamerge.errors import BadFile, BadInput, BadShape, MissingExtra

pytestmark = needs_torch


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def tensor(*shape, dtype="bfloat16"):
    return torch.randn(*shape).to(getattr(torch, dtype))


def ids_and_sizes(path, **options):
    return [(page.id, len(page)) for page in am.read_vectors(path, **options)]


@pytest.mark.parametrize("suffix", [".pt", ".pth"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_tensor_is_a_page_or_a_batch(tmp_path, suffix, dtype):
    page, batch = tensor(5, 4, dtype=dtype), tensor(3, 5, 4, dtype=dtype)
    torch.save(page, tmp_path / f"one{suffix}")
    torch.save(batch, tmp_path / f"many{suffix}")
    (read,) = am.read_vectors(tmp_path / f"one{suffix}")
    assert read.id == "one"
    np.testing.assert_array_equal(read.vectors, page.float().numpy())
    for read, vectors in zip(am.read_vectors(tmp_path / f"many{suffix}"), batch, strict=True):
        np.testing.assert_array_equal(read.vectors, vectors.float().numpy())


def test_a_list_of_tensors_is_a_page_each(tmp_path):
    torch.save([tensor(3, 4), tensor(2, 5, 4), tensor(1, 4)], tmp_path / "list.pt")
    sizes = [("list#1", 3), ("list#2", 5), ("list#3", 5), ("list#4", 1)]
    assert ids_and_sizes(tmp_path / "list.pt") == sizes
    assert ids_and_sizes(tmp_path)[:2] == sizes[:2]


def test_a_dict_of_tensors_is_a_page_each_or_fields(tmp_path):
    torch.save({"a": tensor(3, 4), "b": tensor(2, 4), "b.extra": tensor(1, 4)}, tmp_path / "n.pt")
    assert ids_and_sizes(tmp_path / "n.pt") == [("a", 3), ("b", 2)]
    fields = {"vectors": tensor(3, 4), "attention": torch.rand(3), "grid": torch.tensor([1, 3])}
    torch.save(fields, tmp_path / "f.pt")
    (page,) = am.read_vectors(tmp_path / "f.pt")
    assert (page.grid, len(page.attention)) == ((1, 3), 3)


def test_a_dict_may_have_a_list_of_tensors_and_their_ids(tmp_path):
    saved = {"embeddings": [tensor(3, 4), tensor(2, 4)], "ids": ["x", 7]}
    torch.save(saved, tmp_path / "d.pt")
    assert ids_and_sizes(tmp_path / "d.pt", column="embeddings") == [("x", 3), ("7", 2)]
    torch.save(saved | {"ids": ["x"]}, tmp_path / "d.pt")
    with pytest.raises(BadFile, match="has more pages than its 1 ids"):
        list(am.read_vectors(tmp_path / "d.pt", column="embeddings"))


class Runs:
    def __reduce__(self):
        return os.mkdir, ("it-ran",)


@pytest.mark.parametrize("content", [Runs(), [Runs()], {"vectors": Runs()}, Runs])
def test_nothing_that_a_file_names_is_called(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    torch.save(content, tmp_path / "x.pt")
    with pytest.raises(BadFile, match="is a pickle of more than tensors, and nothing else is ope"):
        list(am.read_vectors(tmp_path / "x.pt"))
    assert not (tmp_path / "it-ran").exists()


def test_the_old_format_of_torch_is_refused(tmp_path):
    torch.save(tensor(3, 4), tmp_path / "x.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(BadFile, match=r"is a bare pickle.*torch 1\.6 or later"):
        list(am.read_vectors(tmp_path / "x.pt"))


REFUSED = {
    "a number": (lambda: 7, BadFile, "holds a int where a tensor was expected"),
    "a list of numbers": (lambda: [1, 2], BadFile, "holds a int where a tensor was expected"),
    "a dict of text": (
        lambda: {"model": "colpali"},
        BadFile,
        "holds a str where a tensor was expected",
    ),
    "a sparse tensor": (
        lambda: torch.eye(3).to_sparse(),
        BadFile,
        "holds a sparse or quantised tensor",
    ),
    "a tensor that repeats": (
        lambda: torch.ones(1).expand(1 << 20, 4096),
        BadFile,
        "larger than what",
    ),
    "a vector": (lambda: torch.ones(3), BadShape, r"vectors must have shape \(n, d\), got \(3,\)"),
    "bytes": (lambda: torch.ones(2, 3).to(torch.int8), BadInput, "undo the quantisation first"),
    "padding": (lambda: [torch.zeros(2, 3)], BadInput, "row 0 of vectors .* is all zeros"),
    "ids of no list": (
        lambda: {"vectors": torch.ones(2, 2), "ids": "ab"},
        BadFile,
        "'ids' must be a list",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_page_is_refused(tmp_path, name):
    make, error, words = REFUSED[name]
    torch.save(make(), tmp_path / "x.pt")
    with pytest.raises(error, match=words) as caught:
        list(am.read_vectors(tmp_path / "x.pt"))
    assert "x.pt" in str(caught.value)


def test_a_column_of_tensors_without_names_is_refused(tmp_path):
    torch.save([tensor(3, 4)], tmp_path / "x.pt")
    with pytest.raises(BadInput, match="holds tensors without names: leave out --column y"):
        list(am.read_vectors(tmp_path / "x.pt", column="y"))


def test_a_tensor_that_promises_more_than_its_file_holds_is_refused(tmp_path):
    """The pickle is changed so that its 7 rows become 30,000."""
    torch.save(torch.ones(7, 4), tmp_path / "x.pt")
    with (
        zipfile.ZipFile(tmp_path / "x.pt") as whole,
        zipfile.ZipFile(tmp_path / "y.pt", "w") as changed,
    ):
        for member in whole.infolist():
            data = whole.read(member)
            if member.filename.endswith("data.pkl"):
                rows, many = (
                    pickle.BININT1 + bytes([7]),
                    pickle.BININT2 + (30_000).to_bytes(2, "little"),
                )
                assert data.count(rows) == 1
                data = data.replace(rows, many)
            changed.writestr(member, data)
    with pytest.raises(BadFile, match=r"y\.pt"):
        list(am.read_vectors(tmp_path / "y.pt"))


def test_without_torch_the_error_names_the_extra(tmp_path, monkeypatch):
    torch.save(tensor(3, 4), tmp_path / "x.pt")
    real = builtins.__import__

    def no_torch(name, *more):
        if name == "torch":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(MissingExtra, match=r"pip install 'adamerge\[torch\]'"):
        list(am.read_vectors(tmp_path / "x.pt"))


def test_a_torch_that_runs_code_in_spite_of_weights_only_is_not_used(tmp_path, monkeypatch):
    torch.save(tensor(3, 4), tmp_path / "x.pt")
    monkeypatch.setattr("torch.__version__", "2.5.1+cpu")
    with pytest.raises(MissingExtra, match=r"torch 2\.5\.1\+cpu is not safe"):
        list(am.read_vectors(tmp_path / "x.pt"))


def three_pages(rows=20):
    return [(tensor(rows, 4), 0, 1), (tensor(rows, 4), 0, 2), (tensor(rows, 4), 1, 1)]


NAMES = {0: "docs/a.pdf", 1: "docs/b.pdf"}


def test_an_index_of_byaldi_has_ids_patches_and_prompt(tmp_path):
    pages = three_pages()
    index = write_index(tmp_path / ".byaldi" / "reports", pages, names=NAMES)
    read = list(am.read_vectors(index))
    assert [page.id for page in read] == ["docs/a.pdf#1", "docs/a.pdf#2", "docs/b.pdf#1"]
    for page, (rows, _, _) in zip(read, pages, strict=True):
        rows = rows.float().numpy()
        np.testing.assert_array_equal(page.vectors, rows[4:-7])
        np.testing.assert_array_equal(page.extra, np.concatenate([rows[:4], rows[-7:]]))
    (facts,) = lines(call("info", index, "--json"))
    assert (facts["patches"], facts["extra"]) == (27, 33)
    assert facts["name"] == "vidore/colqwen2-v1.0"


def test_pages_of_colpali_have_their_grid(tmp_path):
    index = write_index(tmp_path / "i", [(tensor(1030, 8), 0, 1)], "vidore/colpali-v1.2", NAMES)
    (page,) = am.read_vectors(index)
    assert (len(page), len(page.extra), page.grid) == (1024, 6, (32, 32))


def test_files_of_an_index_are_read_in_the_order_of_their_numbers(tmp_path):
    pages = [(tensor(12 + i, 4), 0, i + 1) for i in range(12)]
    index = write_index(tmp_path / "i", pages, names={0: "a.pdf"}, at_once=1)
    assert ids_and_sizes(index) == [(f"a.pdf#{i + 1}", 1 + i) for i in range(12)]
    assert [page.id for page in am.read_vectors(index, start=11)] == ["a.pdf#12"]


def test_two_documents_of_one_name_keep_apart(tmp_path):
    index = write_index(tmp_path / "i", three_pages(), names={0: "a.pdf", 1: "a.pdf"})
    ids = [page.id for page in am.read_vectors(index)]
    assert ids == ["a.pdf (document 0)#1", "a.pdf (document 0)#2", "a.pdf (document 1)#1"]


def test_an_index_without_names_of_files_counts_documents(tmp_path):
    index = write_index(tmp_path / "i", three_pages())
    assert next(am.read_vectors(index)).id == "document 0#1"


def test_a_model_that_is_not_known_needs_to_be_told_its_prompt(tmp_path):
    index = write_index(tmp_path / "i", three_pages(), "me/colsmol-tuned", NAMES)
    with pytest.raises(BadInput, match="model 'me/colsmol-tuned', whose prompt is not known: say"):
        list(am.read_vectors(index))
    pages = list(am.read_vectors(index, prompt_rows=(1, 2)))
    assert [(len(page), len(page.extra)) for page in pages] == [(17, 3)] * 3
    result = call("compress", index, "-o", tmp_path / "s", "--method", "height")
    assert "--prompt-rows 4,7" in result.stderr
    words = ("compress", index, "-o", tmp_path / "s", "--method", "height", "--prompt-rows", "0,0")
    assert len(lines(call(*words, "--json"))) == 4


def test_a_page_that_its_model_cannot_have_given_is_refused(tmp_path):
    index = write_index(tmp_path / "i", three_pages(), "vidore/colpali", NAMES)
    with pytest.raises(
        BadInput, match=r"page 'docs/a\.pdf#1' has 20 rows, which is not what its mod"
    ):
        list(am.read_vectors(index))
    index = write_index(tmp_path / "j", three_pages(rows=11), names=NAMES)
    with pytest.raises(BadShape, match=r"has 11 rows, and 4 [+] 7 of them were to be prompt"):
        list(am.read_vectors(index))


def test_a_folder_of_indexes_says_which_there_are(tmp_path):
    for name in ("one", "two"):
        write_index(tmp_path / ".byaldi" / name, three_pages(), names=NAMES)
    for folder in (tmp_path, tmp_path / ".byaldi"):
        with pytest.raises(BadInput, match=r"holds indexes of byaldi: name one of .*one, .*two"):
            list(am.read_vectors(folder))


def break_json(index):
    (index / "index_config.json.gz").write_bytes(b"\x1f\x8b and no more")


def pack_too_much(index):
    with gzip.open(index / "embed_id_to_doc_id.json.gz", "wb") as file:
        for _ in range(65):
            file.write(bytes(1 << 20))


def write_a_list(index):
    write_json(index / "embed_id_to_doc_id.json.gz", [])


def lose_a_place(index):
    write_json(index / "embed_id_to_doc_id.json.gz", {"0": {"doc_id": 0, "page_id": 1}, "7": {}})


def list_fewer(index):
    write_json(index / "embed_id_to_doc_id.json.gz", {"0": {"doc_id": 0, "page_id": 1}})


def list_more(index):
    place = {"doc_id": 0, "page_id": 1}
    write_json(index / "embed_id_to_doc_id.json.gz", dict.fromkeys(map(str, range(4)), place))


def save_a_tensor(index):
    torch.save(tensor(20, 4), index / "embeddings" / "embeddings_0.pt")


def save_a_class(index):
    torch.save([Runs()], index / "embeddings" / "embeddings_0.pt")


def add_a_file(index):
    torch.save([], index / "embeddings" / "embeddings_x.pt")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (break_json, "index_config.json.gz cannot be read"),
        (pack_too_much, "it unpacks to more than 67,108,864 bytes"),
        (write_a_list, "embed_id_to_doc_id.json.gz must hold a JSON object, got list"),
        (lose_a_place, "does not say which page number 1 is"),
        (list_fewer, "holds more pages than the 1 that embed_id_to_doc_id.json.gz lists"),
        (list_more, "holds 3 pages, and embed_id_to_doc_id.json.gz lists 4"),
        (save_a_tensor, "is not of byaldi, which writes a list of tensors"),
        (save_a_class, "is a pickle of more than tensors"),
        (add_a_file, "is not of byaldi, which numbers its files"),
    ],
)
def test_an_index_that_is_spoiled_is_refused_in_one_line(tmp_path, spoil, words):
    index = write_index(tmp_path / "i", three_pages(), names=NAMES)
    spoil(index)
    with pytest.raises(BadFile) as caught:
        list(am.read_vectors(index))
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_an_index_has_no_columns(tmp_path):
    index = write_index(tmp_path / "i", three_pages(), names=NAMES)
    with pytest.raises(BadInput, match="is an index of byaldi and has no columns"):
        list(am.read_vectors(index, column="x"))
