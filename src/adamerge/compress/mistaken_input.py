"""What people give to `compress` by mistake, and the line that they meant."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from adamerge.errors import BadDtype, BadInput, BadShape
from adamerge.types import Compressed, MultiVector, Page

MANY = "am.compress_pages(pages, method) compresses many"
ENCODE = "am.load_encoder('minilm').encode_pages"


def check_is_one_page(vectors: Any) -> None:
    """Refuse what is not the vectors of one page, with what came and the line to write instead."""
    if isinstance(vectors, str | PathLike):
        raise BadDtype(
            f"compress takes vectors (n, d), got the path {str(vectors)!r}: "
            f"am.compress_pages(am.read_vectors({str(vectors)!r}), method) for a file of vectors, "
            f"{ENCODE}(am.read_pages([{str(vectors)!r}])) for a PDF or an image"
        )
    if isinstance(vectors, Compressed):
        raise BadInput(
            f"this page is compressed already, by {vectors.method or 'a method without a name'}: "
            "compress the MultiVector that it was made from"
        )
    if isinstance(vectors, Page) or _is_picture(vectors):
        kind = type(vectors).__name__
        raise BadDtype(
            f"compress takes vectors (n, d), got a picture ({kind}): {ENCODE}([page])[0] makes them"
        )
    if len(shape := getattr(vectors, "shape", ())) == 3:
        raise BadShape(
            f"compress takes one page (n, d), got a batch {tuple(shape)}: {MANY}; "
            "leave out the rows that the attention mask marks as padding"
        )
    if isinstance(vectors, Sequence) and vectors:
        _check_rows(vectors)


def check_is_attention(attention: Any) -> None:
    """Refuse a method in the place of attention."""
    if isinstance(attention, str) or callable(attention):
        raise BadDtype(
            f"the second argument is the attention of each patch, got the method '{attention}': "
            f"am.compress(vectors, method={str(attention)!r})"
        )


def _check_rows(rows: Sequence[Any]) -> None:
    """Refuse a list of pages, of tensors, or of rows of unequal length."""
    first = rows[0]
    if isinstance(first, MultiVector | Page) or len(getattr(first, "shape", ())) == 2:
        raise BadShape(f"compress takes one page, got a list of {len(rows)}: {MANY}")
    if hasattr(first, "detach"):
        raise BadShape(
            f"compress takes one tensor (n, d), got a list of {len(rows)} tensors: torch.stack(vectors)"
        )
    lengths = {len(row) for row in rows if isinstance(row, Sequence)}
    if len(lengths) > 1:
        raise BadShape(
            f"the rows of a page are equally long, got rows of {min(lengths)} to {max(lengths)} numbers"
        )


def _is_picture(given: Any) -> bool:
    """Whether something is an image of PIL, which is not imported for that."""
    return hasattr(given, "getbbox") and hasattr(given, "size")
