"""Vectors in the numbers in which they are kept: floats, int8, and codes of 8, 4, 2 or 1 bits (docs/codes.md).

rotation.py      the rotation after which every coordinate looks like a draw of a Gaussian
levels.py        the values that a coordinate is rounded to
planes.py        numbers of few bits <-> bit planes
code.py          vectors <-> codes
maxsim.py        the score of pages that are kept as codes
stored_rows.py   vectors in any dtype, as one noun
"""

from adamerge.codes.code import Codes, bytes_per_vector, decode, encode, sign_code
from adamerge.codes.levels import BITS
from adamerge.codes.maxsim import maxsim, maxsim_stacked
from adamerge.codes.stored_rows import (
    BITS_OF_CODES,
    DTYPES,
    StoredRows,
    bytes_per_row,
    check_dtype,
    concatenate,
    empty_rows,
    to_rows,
    to_vectors,
)

__all__ = [
    "BITS",
    "BITS_OF_CODES",
    "DTYPES",
    "Codes",
    "StoredRows",
    "bytes_per_row",
    "bytes_per_vector",
    "check_dtype",
    "concatenate",
    "decode",
    "empty_rows",
    "encode",
    "maxsim",
    "maxsim_stacked",
    "sign_code",
    "to_rows",
    "to_vectors",
]
