"""NumPy's files: .npz whose members promise, claim and lack; .npy is a member that stands alone."""

import io
from collections.abc import Sequence
from random import Random
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from fuzz.mutators import mutate_bytes
from fuzz.target import file_target
from fuzz.targets.vector_files import read

ARCHIVE = b"PK"
HEADER_EDITS = (
    *(
        (b"(9, 4)", b"(9000000000000, 4)"),
        (b"(9, 4)", b"(-9, 4)"),
        (b"(9, 4)", b"(9, 4, 1)"),
        (b"(9, 4)", b"()"),
    ),
    *(
        (b"<f4", b"|O8"),
        (b"<f4", b"<U0"),
        (b"<f4", b"<c8"),
        (b"<f4", b"|V4"),
        (b"<f2", b"|b1"),
        (b"<i8", b"<f8"),
    ),
    *((b"False", b"True"), (b"{", b"("), (b"'shape'", b"'share'")),
)


def mutate(random: Random, examples: Sequence[bytes]) -> bytes:
    """Other bytes, or an archive whose members have other bytes under a checksum that is right."""
    data = random.choice(examples)
    if random.random() < 0.3 or not data.startswith(ARCHIVE):
        return mutate_bytes(random, examples)
    with ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(list(members))
    if random.random() < 0.5:
        members[name] = members[name].replace(*random.choice(HEADER_EDITS))
    else:
        members[name] = mutate_bytes(random, list(members.values()))
    if random.random() < 0.1:
        members["vectors.npy"] = members.pop(name)
    out = io.BytesIO()
    with ZipFile(out, "w", random.choice((ZIP_STORED, ZIP_DEFLATED))) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


TARGET = file_target("numpy", "input.npz", read, mutate, share=3, short_run=300)
