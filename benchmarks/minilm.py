"""BERT's forward pass on our kernels against transformers on torch, one thread each, and its products against NumPy's.

OPENBLAS_NUM_THREADS=1 python benchmarks/minilm.py
"""

import numpy as np
import torch
from timing import fastest
from transformers import AutoModel

from adamerge import kernels
from adamerge.encoders.bert import read_bert
from adamerge.encoders.minilm_weights import find_weights

LENGTHS = (12, 64, 256)  # tokens: a query, a paragraph, a window
PRODUCTS = ((256, 1536, 384), (14, 1536, 384))  # rows, outputs, inputs


def forward_passes() -> None:
    """Milliseconds and ratio at each length."""
    bert = read_bert(find_weights())
    model = AutoModel.from_pretrained(find_weights()).eval()
    for length in LENGTHS:
        tokens = list(range(1000, 1000 + length))
        batch = torch.tensor([tokens])
        works = {"ours": lambda t=tokens: bert.forward([t]), "torch": lambda b=batch: model(b)}
        with torch.no_grad():
            ms = fastest(works, 2)
        ratio = ms["torch"] / ms["ours"]
        print(
            f"{length} tokens: {ms['ours']:.1f} ms, torch {ms['torch']:.1f} ms: {ratio:.2f} times"
        )


def products() -> None:
    """The same for a product with packed weights."""
    rng = np.random.default_rng(0)
    for n, m, k in PRODUCTS:
        a, b = (rng.normal(size=(rows, k)).astype(np.float32) for rows in (n, m))
        packed = kernels.pack(b)
        works = {
            "ours": lambda a=a, p=packed, m=m: kernels.matmul_packed(a, p, m),
            "numpy": lambda a=a, b=b: a @ b.T,
        }
        ms = fastest(works, 2)
        ratio = ms["numpy"] / ms["ours"]
        print(
            f"({n}, {k}) x ({k}, {m}): {ms['ours']:.2f} ms, NumPy {ms['numpy']:.2f}: {ratio:.2f} times"
        )


if __name__ == "__main__":
    torch.set_num_threads(1)
    forward_passes()
    products()
