"""Vectors in 8, 4, 2 or 1 bits a coordinate, as bit planes: docs/codes.md."""

from adamerge.codes.code import Codes, bytes_per_vector, decode, encode, sign_code
from adamerge.codes.levels import BITS
from adamerge.codes.maxsim import maxsim

__all__ = ["BITS", "Codes", "bytes_per_vector", "decode", "encode", "maxsim", "sign_code"]
