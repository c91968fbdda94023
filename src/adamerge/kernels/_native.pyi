from adamerge.arrays import Doubles, Floats, Ints, Longs, Stored

def gram(vectors: Floats, level: str | None = None) -> Floats: ...
def ward(
    vectors: Floats, unit: bool = True, condensed: bool = False, level: str | None = None
) -> tuple[Ints, Doubles, Doubles]: ...
def groups(merges: Ints, made: int) -> Ints: ...
def pool(
    vectors: Floats,
    groups: Ints,
    weights: Floats | None,
    m: int,
    unit: bool = False,
    level: str | None = None,
) -> Floats: ...
def maxsim(
    query: Floats,
    query_offsets: Longs,
    vectors: Stored,
    scales: Floats | None,
    begins: Longs,
    ends: Longs,
    threads: int,
    level: str | None = None,
) -> Floats: ...
def ward_bytes(n: int, d: int) -> int: ...
def levels() -> list[str]: ...
