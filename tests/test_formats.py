"""Files that other people's programs write."""

import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from later import needs_torch, safetensors_torch, torch
from safetensors.numpy import save_file

import adamerge as am
from adamerge.errors import BadFile, BadInput, NotFound

RNG = np.random.default_rng(0)
PAGES = [RNG.normal(size=(n, 4)).astype(np.float16) for n in (3, 1, 5)]
ATTENTION = [RNG.random(len(p)).astype(np.float32) for p in PAGES]
FLAT = {
    "vectors": np.concatenate(PAGES),
    "offsets": np.array([0, 3, 4, 9]),
    "attention": np.concatenate(ATTENTION),
}
NAMED = {f"page {i}": p for i, p in enumerate(PAGES)} | {
    f"page {i}.attention": a for i, a in enumerate(ATTENTION)
}


def check(path, ids, attention=True):
    pages = list(am.read_vectors(path))
    assert [p.id for p in pages] == ids
    for page, vectors, a in zip(pages, PAGES, ATTENTION, strict=True):
        np.testing.assert_array_equal(page.vectors, vectors.astype(np.float32))
        if attention:
            np.testing.assert_allclose(page.attention, a)
    assert [p.id for p in am.read_vectors(path, start=2)] == ids[2:]


def test_npz_with_offsets(tmp_path):
    np.savez(tmp_path / "report.npz", **FLAT)
    check(tmp_path / "report.npz", ["report#1", "report#2", "report#3"])
    np.savez(tmp_path / "report.npz", **FLAT, ids=np.array(["a", "b", "ć"]))
    check(tmp_path / "report.npz", ["a", "b", "ć"])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_an_array_per_page(tmp_path, save):
    save(tmp_path / "report.npz", **NAMED)
    check(tmp_path / "report.npz", ["page 0", "page 1", "page 2"])


def test_npz_and_npy_of_one_page(tmp_path):
    np.savez(
        tmp_path / "one.npz", vectors=PAGES[0], attention=ATTENTION[0], grid=[1, 3], extra=PAGES[1]
    )
    (page,) = am.read_vectors(tmp_path / "one.npz")
    assert (page.id, page.grid, len(page), len(page.extra)) == ("one", (1, 3), 3, 1)
    np.save(tmp_path / "two.npy", PAGES[2])
    (page,) = am.read_vectors(tmp_path / "two.npy")
    assert (page.id, len(page)) == ("two", 5)


def test_a_batch_of_pages_of_one_size(tmp_path):
    np.save(tmp_path / "batch.npy", RNG.normal(size=(3, 5, 4)))
    assert [(p.id, len(p)) for p in am.read_vectors(tmp_path / "batch.npy")] == [
        (f"batch#{i}", 5) for i in (1, 2, 3)
    ]


def test_safetensors(tmp_path):
    save_file(FLAT, tmp_path / "report.safetensors")
    check(tmp_path / "report.safetensors", ["report#1", "report#2", "report#3"])
    save_file(NAMED, tmp_path / "named.safetensors")
    check(tmp_path / "named.safetensors", ["page 0", "page 1", "page 2"])
    am.write_vectors(
        tmp_path / "v",
        [am.MultiVector(p, a, id=i) for p, a, i in zip(PAGES, ATTENTION, "xyz", strict=True)],
    )
    check(tmp_path / "v" / "shard-00000.safetensors", ["x", "y", "z"])


@needs_torch
def test_safetensors_of_bfloat16_are_widened_to_the_bit(tmp_path):
    whole = torch.from_numpy(RNG.normal(size=(9, 4))).bfloat16()
    tensors = {"vectors": whole, "offsets": torch.tensor([0, 3, 4, 9])}
    safetensors_torch.save_file(tensors, tmp_path / "b.safetensors")
    pages = list(am.read_vectors(tmp_path / "b.safetensors"))
    assert [len(page) for page in pages] == [3, 1, 5]
    read = np.concatenate([page.vectors for page in pages])
    np.testing.assert_array_equal(read, whole.float().numpy())


@needs_torch
def test_safetensors_of_float8_say_what_to_do(tmp_path):
    eighths = torch.ones(2, 3).to(torch.float8_e4m3fn)
    safetensors_torch.save_file({"vectors": eighths}, tmp_path / "b.safetensors")
    with pytest.raises(BadFile, match="tensor 'vectors' is F8_E4M3, which NumPy lacks: save floa"):
        list(am.read_vectors(tmp_path / "b.safetensors"))


@pytest.mark.parametrize("inner", ["list", "fixed"])
@pytest.mark.parametrize("dtype", [pa.float16(), pa.float32(), pa.float64()])
def test_parquet_and_arrow_columns_of_lists(tmp_path, inner, dtype):
    kind = pa.list_(pa.list_(dtype, 4) if inner == "fixed" else pa.list_(dtype))
    cast = np.dtype(dtype.to_pandas_dtype())
    rows = [[row.astype(cast) for row in page] for page in PAGES]
    table = pa.table(
        {
            "vectors": pa.array(rows, kind),
            "attention": pa.array([list(a) for a in ATTENTION]),
            "id": ["a", "b", "c"],
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    check(tmp_path / "t.parquet", ["a", "b", "c"])
    pa.feather.write_feather(table, tmp_path / "t.feather", compression="uncompressed")
    check(tmp_path / "t.feather", ["a", "b", "c"])
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as out:
        out.write_table(table)
    check(tmp_path / "t.arrow", ["a", "b", "c"])


def test_a_dataset_folder_is_read_file_by_file(tmp_path):
    """As `datasets` saves it: streams data-0000i-of-0000n.arrow beside JSON files."""
    for i, page in enumerate(PAGES):
        table = pa.table({"vectors": pa.array([page.astype(float).tolist()]), "id": [f"p{i}"]})
        with pa.ipc.new_stream(tmp_path / f"data-0000{i}-of-00003.arrow", table.schema) as out:
            out.write_table(table)
    (tmp_path / "state.json").write_text("{}")
    check(tmp_path, ["p0", "p1", "p2"], attention=False)


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle ran')",))


@pytest.mark.parametrize("suffix", [".pkl", ".pt", ".pth", ".bin", ".joblib", ".npy", ".npz"])
def test_a_pickle_never_runs(tmp_path, suffix):
    path = tmp_path / f"page{suffix}"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(BadFile, match="pickle"):
        list(am.read_vectors(path))


def test_an_object_array_is_refused(tmp_path):
    np.savez(tmp_path / "o.npz", vectors=np.array([[Evil()]], object))
    with pytest.raises(BadFile, match="holds Python objects, and a pickle is never read"):
        list(am.read_vectors(tmp_path / "o.npz"))


def table(**columns):
    return lambda path: pa.parquet.write_table(pa.table(columns), path)


BROKEN = {
    "x.npz": (
        lambda path: np.savez(path, a=np.ones(3)),
        BadInput,
        "x.npz, page 'a': vectors must have shape (n, d)",
    ),
    "nan.npz": (
        lambda p: np.savez(p, vectors=[[1, float("nan")]]),
        BadInput,
        "nan.npz, page 'nan': vectors must be",
    ),
    "off.npz": (
        lambda p: np.savez(p, **FLAT | {"offsets": [0, 5, 4, 9]}),
        BadFile,
        "'offsets' does not divide its rows",
    ),
    "end.npz": (
        lambda p: np.savez(p, **FLAT | {"offsets": [0, 3]}),
        BadFile,
        "has 9 rows, 'offsets' ends at 3",
    ),
    "zero.npz": (
        lambda p: np.savez(p, **FLAT | {"offsets": [0, 0, 9]}),
        BadInput,
        "page 'zero#1': a page needs at least",
    ),
    "none.npz": (lambda p: np.savez(p), BadFile, "holds no vectors: expected an array 'vectors'"),
    "cut.npz": (
        lambda p: p.write_bytes(b"PK\x03\x04 and no more"),
        BadFile,
        "cut.npz cannot be read",
    ),
    "empty.npy": (lambda p: p.write_bytes(b""), BadFile, "empty.npy is no file of NumPy"),
    "cut.safetensors": (
        lambda p: p.write_bytes(b"\x08\x00\x00"),
        BadFile,
        "cut.safetensors cannot be read",
    ),
    "cut.parquet": (lambda p: p.write_bytes(b"PAR1"), BadFile, "cut.parquet cannot be read"),
    "cut.arrow": (lambda p: p.write_bytes(b"ARROW1"), BadFile, "cut.arrow cannot be read"),
    "named.parquet": (
        table(embedding=[[[1.0]]]),
        BadFile,
        "has no column 'vectors': say which holds the vectors, as --column NAME; it has embedding (list<",
    ),
    "ragged.parquet": (
        table(vectors=[[[1.0], [2.0, 3.0]]]),
        BadInput,
        "vectors must be rows of one length",
    ),
    "flat.parquet": (
        table(vectors=[[1.0, 2.0]]),
        BadInput,
        "vectors must have shape (n, d), got (2,)",
    ),
    "null.parquet": (table(vectors=[[[1.0, None]]]), BadInput, "vectors must be finite"),
    "struct.parquet": (table(vectors=[{"a": 1.0}]), BadFile, "struct.parquet cannot be read"),
    "text.parquet": (table(vectors=["hello"]), BadFile, "text.parquet cannot be read"),
    "nothing.parquet": (
        table(vectors=pa.array([None], pa.list_(pa.list_(pa.float32())))),
        BadFile,
        "cannot be read",
    ),
    "grid.npz": (lambda p: np.savez(p, **FLAT, grid=[[1, 3]]), BadFile, "'grid' has 1 rows"),
    "scalar.npz": (
        lambda p: np.savez(p, **FLAT | {"offsets": 3}),
        BadFile,
        "'offsets' does not divide",
    ),
    "words.txt": (lambda p: p.write_text("hello"), BadFile, "has no suffix we read: .arrow"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_not_pages_is_refused_by_name(tmp_path, name):
    write, error, words = BROKEN[name]
    write(tmp_path / name)
    with pytest.raises(error) as caught:
        list(am.read_vectors(tmp_path / name))
    assert words in str(caught.value)


READ_ALL = """
import sys, adamerge as am
for path in sys.argv[1:]:
    try:
        list(am.read_vectors(path))
    except am.errors.BadFile as error:
        print(error)
"""


def test_a_list_that_ends_beyond_its_numbers_does_not_end_the_process(tmp_path):
    offsets = np.array([0, 3, 4, 9], "<u4")
    for dtype in (pa.float16(), pa.float32(), pa.float64()):
        rows = pa.array([p.astype(float).tolist() for p in PAGES], pa.list_(pa.list_(dtype)))
        table = pa.table({"vectors": rows})
        pa.feather.write_feather(table, tmp_path / "whole.feather", compression="uncompressed")
        with pa.ipc.new_stream(tmp_path / "whole.arrow", table.schema) as out:
            out.write_table(table)
        for end in (10, 1 << 20, 0x7FFFFFFF, 0xFFFFFFFF):
            for suffix in ("feather", "arrow"):
                whole = (tmp_path / f"whole.{suffix}").read_bytes()
                assert whole.count(offsets.tobytes()) == 1
                broken = whole.replace(offsets.tobytes(), np.array([0, 3, 4, end], "<u4").tobytes())
                (tmp_path / f"{dtype}-{end}.{suffix}").write_bytes(broken)
    paths = sorted(path for path in tmp_path.iterdir() if path.stem != "whole")
    run = subprocess.run(
        [sys.executable, "-c", READ_ALL, *paths], capture_output=True, text=True, check=True
    )
    assert len(paths) == 24
    for path, line in zip(paths, run.stdout.splitlines(), strict=True):
        assert f"{path} cannot be read" in line


def test_an_array_that_promises_more_than_its_file_holds_takes_no_memory(tmp_path):
    promise = {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 1 << 20)}
    with (tmp_path / "p.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, promise)
        file.write(bytes(64))
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.write(tmp_path / "p.npy", "vectors.npy")
    for name in ("p.npy", "p.npz"):
        with pytest.raises(BadFile, match=r"promises float32 of shape .*, and 64 follow"):
            list(am.read_vectors(tmp_path / name))


def test_an_archive_of_zeros_is_not_unpacked(tmp_path):
    """A megabyte of zeros packs to a kilobyte; here are more than we unpack."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (1 << 22, 8)}
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("vectors.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(128):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="more than 64 times its size"):
            list(am.read_vectors(tmp_path / "bomb.npz"))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_an_error_is_one_printable_line_whatever_a_file_says(tmp_path):
    np.savez(tmp_path / "x.npz", **{"a\nb\x1b[2J\u2028c": np.ones(3)})
    with pytest.raises(BadInput) as caught:
        list(am.read_vectors(tmp_path / "x.npz"))
    assert str(caught.value).isprintable()
    assert "page 'a b [2J c': vectors must have shape (n, d)" in str(caught.value)


def test_nothing_there_is_said_at_once(tmp_path):
    with pytest.raises(NotFound, match="does not exist"):
        am.read_vectors(tmp_path / "nowhere")
    with pytest.raises(
        BadFile, match=r"holds no vectors: no manifest\.json, and no file of \.arrow"
    ):
        list(am.read_vectors(tmp_path))
