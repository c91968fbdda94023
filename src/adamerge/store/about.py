"""What a store says of itself: what made its pages, and in which dtype it keeps their vectors."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self
from uuid import uuid4

from adamerge.codes import BITS_OF_CODES, DTYPES, bytes_per_row
from adamerge.codes.rotation import NAME as ROTATION
from adamerge.errors import BadFile, Damaged, Mismatch, TooNew
from adamerge.types import Compressed

DEFAULT_DTYPE = "float16"  # of a new store where nothing says another
# Of new stores. Earlier ones are still read and written: version 1 has no checksums, and version 2 no codes.
VERSION = 3
# What must be the same for all pages of a store.
SAME_FOR_ALL_PAGES = ("name", "revision", "max_num_visual_tokens", "dpi")


def _new_identity() -> str:
    return uuid4().hex


@dataclass(frozen=True)
class About:
    """What made the pages of a store, and in which dtype it keeps their vectors.

    encoder      what the encoder says of itself: name, revision, options, and the dpi of the pages
    made         a random id of the store, which tells it from another one in its place
    copied_from  `made` of the store that this one is a copy of, or ""
    rotation     the name of the rotation of codes; "" where vectors are no codes
    """

    dimension: int
    method: str
    dtype: str = "float16"
    encoder: dict[str, Any] = field(default_factory=dict)
    made: str = field(default_factory=_new_identity)
    version: int = VERSION
    copied_from: str = ""
    rotation: str = ""

    @classmethod
    def from_json(cls, described: Any) -> Self:
        """What a store says of itself; unknown fields are ignored, a later version is refused."""
        if not isinstance(described, Mapping) or not isinstance(described.get("version"), int):
            raise BadFile("what is there is not a store of adamerge: it tells no version")
        version = described["version"]
        if version > VERSION:
            raise TooNew(
                f"the store is of version {version}, and this adamerge reads up to version {VERSION}: update adamerge"
            )

        known = {field.name for field in fields(cls)}
        values = {name: described[name] for name in known & set(described)}
        try:
            about = cls(**values)
        except TypeError:
            raise BadFile(
                "what is there is not a store of adamerge: it tells no dimension"
            ) from None
        about._check()
        return about

    def _check(self) -> None:
        """Refuse values that no store has ever written."""
        is_sound = (
            isinstance(self.dimension, int)
            and self.dimension > 0
            and self.dtype in DTYPES
            and isinstance(self.method, str)
            and isinstance(self.encoder, dict)
            and isinstance(self.made, str)
        )
        if not is_sound:
            raise Damaged("what the store says of itself makes no sense: restore it")
        if self.rotation != rotation_of(self.dtype):
            raise TooNew(
                f"the store keeps codes of the rotation {self.rotation!r}, and this adamerge has {ROTATION!r}: "
                "update adamerge"
            )

    def __str__(self) -> str:
        """What made the pages, in words."""
        encoder = self.encoder.get("name", "no named encoder")
        revision = self.encoder.get("revision")
        if revision:
            encoder += f" ({revision})"
        return f"{encoder} + {self.method}"

    @property
    def has_checksums(self) -> bool:
        """Whether every page has checksums, as it has from version 2 on."""
        return self.version >= 2

    @property
    def vector_bytes(self) -> int:
        """Bytes of one stored vector, its scale included."""
        return bytes_per_row(self.dimension, self.dtype)

    def json(self) -> dict[str, Any]:
        """The fields, as a store writes them."""
        return asdict(self)

    def check_encoder(self, encoder: Mapping[str, Any]) -> None:
        """Refuse another encoder than the one that made the pages; what is not said is not compared."""
        for key in SAME_FOR_ALL_PAGES:
            if key not in self.encoder or key not in encoder:
                continue
            ours, theirs = self.encoder[key], encoder[key]
            if ours != theirs:
                raise Mismatch(
                    f"the store holds pages of {self}: its {key} is {ours}, not {theirs}; use another store"
                )

    def check_page(self, page: Compressed) -> None:
        """Refuse a page of another method or dimension."""
        if page.method != self.method:
            raise Mismatch(
                f"page '{page.id}' was compressed by {page.method}, the pages of the store by {self.method}: "
                "use that method, or another store"
            )
        if page.vectors.shape[1] != self.dimension:
            raise Mismatch(
                f"page '{page.id}' has {page.vectors.shape[1]} dimensions, the store {self.dimension}: "
                "another encoder made it; use another store"
            )
        if page.rows is not None and page.rows.dtype != self.dtype:
            raise Mismatch(
                f"page '{page.id}' is rounded to {page.rows.dtype} already, and the store keeps {self.dtype}: "
                f"compress it without +{page.rows.dtype}, or use a store of that dtype"
            )


def rotation_of(dtype: str) -> str:
    """The name of the rotation by which this adamerge makes codes of a dtype; "" where vectors are no codes."""
    return ROTATION if dtype in BITS_OF_CODES else ""
