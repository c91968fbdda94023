"""Limits of stores, for code that opens none."""

QDRANT_DTYPES = ("float32", "float16")
QDRANT_NUMBERS = 1_048_576  # Qdrant refuses a multi-vector that has as many: rows x dimensions
LANCE_MEMORY = (
    4 << 30
)  # bytes of vectors that a search in a Lance store holds, unless said otherwise
SIGNS_FROM = (
    5_000  # pages of codes from which sign planes propose; to compare fewer takes less time
)
INDEX_FROM = 10_000  # pages of a Lance store from which the mean vectors get an index
