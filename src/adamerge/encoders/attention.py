"""The attention of a model's last layer, read while it runs: no eager attention, no (N, N) matrix.

Only the last attention module is given a private copy of its config, which names a function registered in
transformers' AttentionInterface. That function calls the module's own kernel (sdpa, flash, eager) and adds the rows
that were asked for: queries and keys arrive there after projection, norms and rotation. Masks, the vision tower and all
other layers never see the name, and afterwards the model is as it was.
"""

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, AttentionInterface

from adamerge.errors import BadInput

NAME = "adamerge_rows"
CHUNK = 64  # rows at a time where the mean over many is wanted
# towers whose attention is not the text's
ELSEWHERE = ("visual", "vision", "image_encoder", "audio")
LEAVES = ("self_attn", "attn", "attention", "self")


@dataclass
class Capture:
    """What to read, and what was read: `weights` (B, heads, N) in float32, rows that sum to 1 and are 0 on padding."""

    rows: Tensor  # (B,) the row of each sequence, or (B, N) bool: the mean over these
    real: Tensor  # (B, N) bool: tokens that are not padding
    kernel: Callable[..., Any]
    weights: Tensor | None = None


@contextmanager
def capture(model: nn.Module, mask: Tensor, rows: Tensor | None = None) -> Iterator[Capture]:
    """Read the last layer's attention during one forward pass; by default the row of the last real token.

        with capture(model, batch["attention_mask"]) as seen:
            model(**batch)
        importance = seen.weights.mean(1)              # (B, N)

    mask  (B, N)  1 for real tokens, padded left or right
    rows  (B,) one row of each sequence, or (B, N) bool for the mean over several: bidirectional encoders only, since in
          a causal one late tokens are seen by few rows
    """
    module = last_attention(model)
    config: Any = module.config
    if hasattr(module, "_adamerge"):
        raise BadInput("this model's attention is being read already: one capture at a time")
    if rows is None:
        rows = last_real(mask)
    seen = Capture(rows, mask.bool(), _kernel(module))
    AttentionInterface.register(NAME, _attend)
    private = copy.copy(config)
    private._attn_implementation = NAME
    module.config = private
    module._adamerge = seen  # type: ignore[assignment]
    try:
        yield seen
    finally:
        module.config = config
        del module._adamerge


def last_attention(model: nn.Module) -> nn.Module:
    """The self-attention of the last text layer that has one; layers of linear attention have none."""
    last: nn.Module | None = None
    for name, module in model.named_modules():
        if _is_text_attention(name) and hasattr(module, "config"):
            last = module
    if last is None:
        raise BadInput(f"{type(model).__name__} has no attention layer that can be read")
    return last


def _is_text_attention(name: str) -> bool:
    """Whether a module of that name is the self-attention of a layer that reads text."""
    is_in_layer = "layers." in name or "layer." in name
    is_elsewhere = any(word in name.lower() for word in ELSEWHERE)
    return name.rsplit(".", 1)[-1] in LEAVES and is_in_layer and not is_elsewhere


def last_real(mask: Tensor) -> Tensor:
    """Where the last real token of each sequence is, padded left or right: (B, N) -> (B,)."""
    return mask.shape[1] - 1 - mask.long().flip(1).argmax(1)


def _kernel(module: nn.Module) -> Callable[..., Any]:
    """The attention function that a module would call."""
    name = module.config._attn_implementation  # type: ignore[union-attr]
    if name in (None, "eager"):
        return sys.modules[type(module).__module__].eager_attention_forward  # type: ignore[no-any-return]
    return ALL_ATTENTION_FUNCTIONS[name]  # type: ignore[no-any-return]


def _attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **given: Any
) -> Any:
    seen: Capture = module._adamerge
    out = seen.kernel(module, query, key, value, mask, **given)
    with torch.no_grad():
        seen.weights = _weights(module, query, key, mask, seen, given)
    return out


def _weights(
    module: Any, query: Tensor, key: Tensor, mask: Tensor | None, seen: Capture, given: Any
) -> Tensor:
    """softmax(q k^T) of the wanted rows: O(rows heads N d) work, O(heads N) memory a row."""
    causal = given.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    scale = given.get("scaling")
    if scale is None:
        scale = query.shape[-1] ** -0.5
    cap = given.get("softcap")
    allowed = _Allowed(seen.real.to(query.device), mask, bool(causal), given.get("sliding_window"))

    wanted = seen.rows.to(query.device)
    if wanted.dim() == 1:
        one_row = wanted[:, None]
        return _softmax(query, key, one_row, allowed, scale, cap)[:, :, 0]

    batch, heads, length, _ = query.shape
    total = torch.zeros(batch, heads, key.shape[2], device=query.device)
    for start in range(0, length, CHUNK):
        numbers = torch.arange(start, min(start + CHUNK, length), device=query.device)
        weights = _softmax(query, key, numbers.expand(batch, -1), allowed, scale, cap)
        weights = weights.nan_to_num(0.0)  # a row of padding may see nothing
        total += (weights * wanted[:, None, numbers, None]).sum(2)
    return total / wanted.sum(1).clamp_min(1)[:, None, None]


@dataclass
class _Allowed:
    """Which keys a row may see, however the layer was told."""

    real: Tensor
    mask: Tensor | None  # (B, 1 or heads, N, N), (B, N) as flash kernels get it, or None
    causal: bool
    window: int | None

    def apply(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Logits (B, heads, R, N) of rows (B, R), with -inf where a row must not look."""
        at = torch.arange(logits.shape[-1], device=logits.device)
        apart = at - rows[:, :, None]  # (B, R, N)
        keep = self.real[:, None, :].expand_as(apart).clone()
        if self.mask is not None and self.mask.dim() == 4:
            # such a mask says it all: prefixes, both directions, windows
            logits = _masked(logits, rows, self.mask)
        elif self.causal:
            keep &= apart <= 0
        if self.window is not None:
            keep &= apart.abs() < self.window
        return logits.masked_fill(~keep[:, None], -torch.inf)


def _masked(logits: Tensor, rows: Tensor, mask: Tensor) -> Tensor:
    """Logits (B, heads, R, N) of rows (B, R) under a mask (B, 1 or heads, N, N) of bools or of summands."""
    full = mask.expand(len(rows), *mask.shape[1:])
    index = rows[:, None, :, None].expand(-1, full.shape[1], -1, full.shape[3])
    part = full.gather(2, index)[..., : logits.shape[-1]]
    if part.dtype == torch.bool:
        return logits.masked_fill(~part, -torch.inf)
    return logits + part.float()


def _softmax(
    query: Tensor, key: Tensor, rows: Tensor, allowed: _Allowed, scale: float, cap: float | None
) -> Tensor:
    """Attention of rows (B, R): (B, heads, R, N). Grouped keys are shared, not repeated."""
    batch, heads, _, d = query.shape
    shared = key.shape[1]
    index = rows[:, None, :, None].expand(-1, heads, -1, d)
    wanted = query.gather(2, index).float()
    wanted = wanted.reshape(batch, shared, heads // shared * rows.shape[1], d)
    # one head of keys at a time, so that no float32 copy of all of them is made
    parts = [wanted[:, g] @ key[:, g].float().transpose(1, 2) for g in range(shared)]
    logits = torch.stack(parts, 1).reshape(batch, heads, rows.shape[1], -1) * scale
    if cap is not None:
        logits = cap * torch.tanh(logits / cap)
    return allowed.apply(logits, rows).softmax(-1)
