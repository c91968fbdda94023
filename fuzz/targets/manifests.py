"""Manifests of any content beside a shard that is whole."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from adamerge.cli.facts_in_words import in_words
from adamerge.cli.info import facts
from adamerge.vectors import read_compressed, read_manifest
from fuzz.mutators import mutate_bytes, mutate_value
from fuzz.target import Target, Try, example

SHARD = "shard-00000.safetensors"


def mutate(random: Random, examples: Sequence[bytes]) -> bytes:
    """Another value somewhere, or other bytes."""
    if random.random() < 0.3:
        return mutate_bytes(random, examples)
    value = json.loads(random.choice(examples))
    for _ in range(random.choice((1, 1, 2, 3))):
        value = mutate_value(random, value)
    return json.dumps(value).encode()


@contextmanager
def session(folder: Path) -> Iterator[Try]:
    """A folder of vectors; the input is its manifest."""
    (folder / SHARD).write_bytes(example("shards/compressed"))

    def try_input(data: bytes) -> None:
        (folder / "manifest.json").write_bytes(data)
        if read_manifest(folder).method:
            list(read_compressed(folder))
        in_words(facts(folder)).encode()

    yield try_input


TARGET = Target("manifests", session, mutate, share=2, short_run=500)
