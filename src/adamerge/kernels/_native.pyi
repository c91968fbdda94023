from collections.abc import Sequence

from adamerge.arrays import Bits, Bytes, Doubles, Floats, Halves, Ints, Longs, Stored

def gram(vectors: Floats, isa: str | None = None) -> Floats: ...
def ward(
    vectors: Floats, unit: bool = True, condensed: bool = False, isa: str | None = None
) -> tuple[Ints, Doubles, Doubles]: ...
def groups(merges: Ints, made: int) -> Ints: ...
def pool(
    vectors: Floats,
    groups: Ints,
    weights: Floats | None,
    m: int,
    unit: bool = False,
    isa: str | None = None,
) -> Floats: ...
def widen(halves: Halves, isa: str | None = None) -> Floats: ...
def narrow(vectors: Floats, isa: str | None = None) -> Halves: ...
def maxsim(
    query: Floats,
    query_offsets: Longs,
    vectors: Stored,
    scales: Floats | None,
    begins: Longs,
    ends: Longs,
    threads: int,
    isa: str | None = None,
) -> Floats: ...
def maxsim_planes(
    query: Floats,
    query_offsets: Longs,
    planes: Sequence[Bits],
    levels: Bytes,
    scales: Floats,
    begins: Longs,
    ends: Longs,
    steps: int,
    threads: int,
    isa: str | None = None,
) -> Floats: ...
def pack(b: Floats, isa: str | None = None) -> Floats: ...
def matmul_packed(a: Floats, panels: Floats, m: int, isa: str | None = None) -> Floats: ...
def matmul_batch(a: Floats, b: Floats, isa: str | None = None) -> Floats: ...
def softmax(x: Floats, scale: float, isa: str | None = None) -> None: ...
def gelu(x: Floats, bias: Floats, isa: str | None = None) -> None: ...
def layer_norm(
    x: Floats,
    residual: Floats,
    bias: Floats,
    weight: Floats,
    shift: Floats,
    epsilon: float,
    isa: str | None = None,
) -> None: ...
def ward_bytes(n: int, d: int) -> int: ...
def instruction_sets() -> list[str]: ...
