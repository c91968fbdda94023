"""The attention row against eager attention: one layer of ColQwen2.5-3B's shape, one thread, float32.

python benchmarks/attention.py
"""

import time
from types import SimpleNamespace

import torch
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import eager_attention_forward

from adamerge.encoders.attention import Capture, _weights

HEADS, SHARED, D = 16, 2, 128


def best(work, seconds: float = 3.0) -> float:
    """The shortest of several runs, in milliseconds."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    """Print a row per length."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = SimpleNamespace(num_key_value_groups=HEADS // SHARED, training=False, is_causal=True)
    print(
        "| N | eager, ms | row, ms | eager / row | weights of eager, MB | of the row, MB |\n|---|---|---|---|---|---|"
    )
    for n in (768, 1536, 3072):
        q, k, v = (
            torch.randn(1, HEADS, n, D),
            torch.randn(1, SHARED, n, D),
            torch.randn(1, SHARED, n, D),
        )
        mask = torch.full((n, n), -torch.inf).triu(1)[None, None]
        seen = Capture(torch.tensor([n - 1]), torch.ones(1, n, dtype=torch.bool), None)
        with torch.no_grad():
            full = eager_attention_forward(module, q, k, v, mask, scaling=D**-0.5)[1]
            row = _weights(module, q, k, mask, seen, {})
            torch.testing.assert_close(row, full[:, :, -1], atol=1e-6, rtol=0)
            eager = best(
                lambda q=q, k=k, v=v, mask=mask: eager_attention_forward(
                    module, q, k, v, mask, scaling=D**-0.5
                )
            )
            ours = best(
                lambda q=q, k=k, mask=mask, seen=seen: _weights(module, q, k, mask, seen, {})
            )
        sizes = (4 * full.numel() / 1e6, 4 * row.numel() / 1e6)
        print(
            f"| {n} | {eager:.1f} | {ours:.2f} | {eager / ours:.0f} | {sizes[0]:.0f} | {sizes[1]:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
