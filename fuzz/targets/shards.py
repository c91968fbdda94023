"""Shards of vectors: damaged bytes, and wrong arrays with the right checksums."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from safetensors.numpy import load, save

from adamerge.cli.info import facts
from adamerge.errors import AdamergeError
from adamerge.vectors import fingerprint, read_compressed, read_vectors
from adamerge.vectors.manifest import VERSION, Manifest, write_manifest
from fuzz.mutators import mutate_bytes, mutate_value
from fuzz.target import Target, Try

NAME = "shard-00000.safetensors"
METHOD = "sem-cluster:m=3"
PAGES = 2
COMPRESSED_DTYPES = ("float16", "int8", "int4")
NAMES = ("vectors", "scales", "dimensions", "offsets", "extra", "groups", "theta", "x")
DTYPES = ("f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "?")
NUMBERS = (0, 1, -1, 7, 1 << 31, -(1 << 31), (1 << 63) - 1, float("nan"), float("inf"), 6e4)


def mutate(random: Random, examples: Sequence[bytes]) -> bytes:
    """Other bytes, or other arrays and ids under checksums that are right."""
    if random.random() < 0.2:
        return mutate_bytes(random, examples)
    arrays = load(random.choice(examples))
    with np.errstate(all="ignore"):  # a number may not fit where it is put
        for _ in range(random.choice((1, 1, 2, 4))):
            _change(random, arrays, load(random.choice(examples)))
    arrays = dict(sorted(arrays.items()))  # load() has them in any order
    sums = {name: crc32(np.ascontiguousarray(array).data) for name, array in arrays.items()}
    about: Any = {"ids": ["a", "b"], "crc32": sums}
    if random.random() < 0.2:
        about = mutate_value(random, about)
    return bytes(save(arrays, {"pages": json.dumps(about)}))


def _change(random: Random, arrays: dict[str, Any], others: dict[str, Any]) -> None:
    """Change one array: its numbers, type, shape or name; or remove it, or take one of another shard."""
    name = random.choice(sorted(arrays)) if arrays else "vectors"
    array = arrays.pop(name, np.zeros((1, 1), "f4"))
    match random.randrange(8):
        case 0:
            pass
        case 1:
            arrays[name] = array.astype(random.choice(DTYPES))
        case 2:
            arrays[name] = array.reshape(
                random.choice(((-1,), (1, *array.shape), (*array.shape, 1)))
            )
        case 3:
            arrays[name] = np.ascontiguousarray(array[: random.randrange(len(array) + 1)])
        case 4:
            arrays[name] = np.concatenate([array, array])
        case 5:
            arrays[random.choice(NAMES)] = array
        case 6:
            arrays[name] = array
            arrays.update({name: others[name]} if name in others else others)
        case _:
            arrays[name] = _with_number(random, array)


def _with_number(random: Random, array: Any) -> Any:
    changed = array.copy()
    if changed.size:
        number = np.array(random.choice(NUMBERS))
        changed.flat[random.randrange(changed.size)] = number.astype(changed.dtype)
    return changed


@contextmanager
def session(folder: Path) -> Iterator[Try]:
    """A folder of pages, and one of compressed pages in each kind of dtype; the input is the shard of all."""
    folders = {"pages": folder / "pages"}
    for dtype in COMPRESSED_DTYPES:
        folders[dtype] = folder / dtype
    for name, path in folders.items():
        path.mkdir()
        manifest = Manifest(pages=PAGES, shards={NAME: PAGES})
        if name != "pages":
            version = 1 if name == "float16" else VERSION
            manifest = replace(manifest, dtype=name, method=METHOD, version=version)
        write_manifest(path, manifest)

    def try_input(data: bytes) -> None:
        failed = None
        for name, path in folders.items():
            (path / NAME).write_bytes(data)
            steps = (facts, fingerprint, _read_pages if name == "pages" else _read_compressed)
            for step in steps:
                try:
                    step(path)
                except AdamergeError as error:  # the other steps are still to be tried
                    failed = failed or error
        if failed:
            raise failed

    yield try_input


def _read_pages(path: Path) -> None:
    for page in read_vectors(path):
        page.vectors.sum()


def _read_compressed(path: Path) -> None:
    for page in read_compressed(path):
        _ = page.compression, page.stored.sum(), page.bytes()


TARGET = Target("shards", session, mutate, share=3, short_run=300, file_name=NAME)
