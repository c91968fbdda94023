"""BERT's forward pass in NumPy, to read beside the paper (Devlin et al., 2018); it needs no torch.

    x  = norm(word + position + segment)                     (n, d), a row per token
    in each layer:
      a  = softmax(q kᵀ / √dₕ) v        for every head        self-attention
      x  = norm(x + a Wₒ + bₒ)
      f  = gelu(x W₁ + b₁) W₂ + b₂                            feed-forward
      x  = norm(x + f)

Matrix products, softmax, gelu and norm are kernels of ours: they take one thread and release the interpreter's
lock, so texts are encoded side by side. NumPy's own products would start threads that wait for each other.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adamerge import kernels
from adamerge.arrays import Floats, row_offsets
from adamerge.errors import BadFile

SAFETENSORS_TYPES = {"F32": np.float32, "I64": np.int64}


@dataclass(frozen=True, eq=False)
class Norm:
    """The weight and the shift of a layer norm: (d,) each."""

    weight: Floats
    shift: Floats


@dataclass(frozen=True, eq=False)
class Linear:
    """x -> x weightᵀ + bias; a weight (out, in) that is packed for our product, and a bias (out,)."""

    packed: Floats
    bias: Floats

    def product(self, x: Floats) -> Floats:
        """The product x weightᵀ: (n, in) -> (n, out); the next kernel adds the bias."""
        return kernels.matmul_packed(x, self.packed, len(self.bias))


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: queries, keys and values by one matrix, the way out of attention, and the feed-forward part."""

    query_key_value: Linear
    attention_out: Linear
    attention_norm: Norm
    up: Linear
    down: Linear
    norm: Norm


@dataclass(frozen=True, eq=False)
class Bert:
    """A BERT encoder; of its words only those that are used are read from the file."""

    words: Floats  # (vocabulary, d)
    positions: Floats  # (longest text, d), with the first segment added
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float

    def forward(self, texts: Sequence[Sequence[int]]) -> list[tuple[Floats, Floats]]:
        """Hidden states (n, d) of each text of n tokens, and the last layer's attention (heads, n, n).

        Texts stand one below the other, so that a product reads its weights once for all of them. A token attends to
        its own text alone, so each text gets what it gets when it is alone.
        """
        offsets = row_offsets(texts).tolist()
        tokens = np.concatenate([np.asarray(text, np.int64) for text in texts])
        positions = np.concatenate([self.positions[: len(text)] for text in texts])
        no_bias = np.zeros(self.words.shape[1], np.float32)

        x: Floats = self.words[tokens]
        self._normalise(x, positions, no_bias, self.norm)

        for layer in self.layers:
            heads, attention = self._attend(x, offsets, layer.query_key_value)

            mixed = layer.attention_out.product(heads)
            self._normalise(mixed, x, layer.attention_out.bias, layer.attention_norm)

            inner = layer.up.product(mixed)
            kernels.gelu(inner, layer.up.bias)

            x = layer.down.product(inner)
            self._normalise(x, mixed, layer.down.bias, layer.norm)

        hidden = [x[begin:end] for begin, end in pairwise(offsets)]
        return list(zip(hidden, attention, strict=True))

    def _attend(
        self, x: Floats, offsets: list[int], query_key_value: Linear
    ) -> tuple[Floats, list[Floats]]:
        """What every head reads, side by side, in the rows of all texts; and the attention of each text."""
        projected = query_key_value.product(x)
        projected += query_key_value.bias

        read = np.empty_like(x)
        attention = []
        for begin, end in pairwise(offsets):
            read[begin:end], of_text = self._attend_within(projected[begin:end])
            attention.append(of_text)
        return read, attention

    def _attend_within(self, projected: Floats) -> tuple[Floats, Floats]:
        """What every head reads in one text, side by side (n, d), and its attention (heads, n, n)."""
        n = len(projected)
        size = projected.shape[1] // (3 * self.heads)
        parts = projected.reshape(n, 3, self.heads, size)
        query = np.ascontiguousarray(parts[:, 0].transpose(1, 0, 2))  # (heads, n, size)
        key = np.ascontiguousarray(parts[:, 1].transpose(1, 0, 2))
        value = np.ascontiguousarray(parts[:, 2].transpose(1, 2, 0))  # (heads, size, n)

        attention = kernels.matmul_batch(query, key)
        kernels.softmax(attention.reshape(-1, n), 1 / size**0.5)
        read = kernels.matmul_batch(attention, value)
        return read.transpose(1, 0, 2).reshape(n, -1), attention

    def _normalise(self, x: Floats, residual: Floats, bias: Floats, norm: Norm) -> None:
        """X becomes norm(x + bias + residual), in place."""
        kernels.layer_norm(x, residual, bias, norm.weight, norm.shift, self.epsilon)


def read_bert(folder: Path) -> Bert:
    """The model of a folder as transformers writes it: config.json and model.safetensors."""
    try:
        config = json.loads((folder / "config.json").read_text())
        tensors = map_tensors(folder / "model.safetensors")
        layers = tuple(_layer(tensors, i) for i in range(config["num_hidden_layers"]))
        segment = tensors["embeddings.token_type_embeddings.weight"][0]
        return Bert(
            words=tensors["embeddings.word_embeddings.weight"],
            positions=tensors["embeddings.position_embeddings.weight"] + segment,
            norm=_norm(tensors, "embeddings.LayerNorm"),
            layers=layers,
            heads=config["num_attention_heads"],
            epsilon=config["layer_norm_eps"],
        )
    except (OSError, KeyError, ValueError) as error:
        raise BadFile(f"{folder} holds no BERT model that can be read: {error}") from None


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file, mapped: a row is read from the disk when it is used."""
    content = np.memmap(path, np.uint8, mode="r")
    length = int.from_bytes(bytes(content[:8]), "little")
    header = json.loads(bytes(content[8 : 8 + length]))
    header.pop("__metadata__", None)
    data = content[8 + length :]

    tensors: dict[str, NDArray[Any]] = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        values = data[begin:end].view(SAFETENSORS_TYPES[about["dtype"]])
        tensors[name] = np.asarray(values).reshape(about["shape"])
    return tensors


def _layer(tensors: Mapping[str, Floats], number: int) -> Layer:
    prefix = f"encoder.layer.{number}"
    attention = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
    return Layer(
        query_key_value=_linear(tensors, *attention),
        attention_out=_linear(tensors, f"{prefix}.attention.output.dense"),
        attention_norm=_norm(tensors, f"{prefix}.attention.output.LayerNorm"),
        up=_linear(tensors, f"{prefix}.intermediate.dense"),
        down=_linear(tensors, f"{prefix}.output.dense"),
        norm=_norm(tensors, f"{prefix}.output.LayerNorm"),
    )


def _linear(tensors: Mapping[str, Floats], *names: str) -> Linear:
    """One linear map that gives the outputs of several, side by side."""
    weight = np.concatenate([tensors[f"{name}.weight"] for name in names])
    bias = np.concatenate([tensors[f"{name}.bias"] for name in names])
    return Linear(kernels.pack(weight), bias)


def _norm(tensors: Mapping[str, Floats], name: str) -> Norm:
    return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])
