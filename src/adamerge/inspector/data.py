"""An inspection -> the JSON that its page reads. Arrays are base64 of little-endian bytes, exact to the last bit."""

import json
from base64 import b64encode
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from adamerge.arrays import Floats
from adamerge.compress import Method
from adamerge.compress.merge import pooling_weights, rule_of
from adamerge.compress.names import as_text
from adamerge.inspector import colours, nodes
from adamerge.inspector.queries import Found
from adamerge.inspector.steps import Step, floors, rule
from adamerge.types import MultiVector

DTYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u2": "<u2"}


def packed(values: Any, kind: str) -> str:
    """An array as text: base64 of its bytes in one of DTYPES."""
    return b64encode(np.ascontiguousarray(values, DTYPES[kind]).tobytes()).decode()


def of_step(step: Step, page: MultiVector, near: list[set[int]]) -> dict[str, Any]:
    """One k: the survivors, their tree and what is known of its nodes, and the library's own cut."""
    kept, tree = step.kept, step.tree
    k = getattr(step.method, "k", None)
    data: dict[str, Any] = {
        "k": as_text(k),
        "name": str(step.method),
        "made": step.small.cut.merges,
    }
    data |= {
        "kept": packed(kept, "i4"),
        "merges": "",
        "raw": "",
        "sequence": "",
        "alike": "",
        "lengths": "",
    }
    if tree is None:
        data["groups"] = packed(step.small.groups, "i4") if rule(step) == "own" else ""
        data["colours"] = packed(colours.of_groups(near, step.small.groups), "u2")
        return data
    rank = {patch: i for i, patch in enumerate(kept.tolist())}
    survivors = [{rank[j] for j in near[patch] if j in rank} for patch in kept.tolist()]
    data["made"] = len(tree) - len(step.small)
    data |= {"merges": packed(tree.merges, "i4"), "raw": packed(tree.cosines, "f8")}
    data |= {"sequence": packed(step.sequence, "f8"), "groups": ""}
    data["alike"] = packed(nodes.alike(tree, page.vectors[kept])[len(tree) :], "f4")
    data["colours"] = packed(colours.of_nodes(survivors, tree.merges), "u2")
    merge_rule = rule_of(step.method)
    if merge_rule.unit:
        weights = pooling_weights(page, merge_rule)
        kept_weights = None if weights is None else weights[kept]
        lengths = nodes.lengths(tree, page.vectors[kept], kept_weights)
        data["lengths"] = packed(lengths, "f4")
    return data


def of_query(found: Found) -> dict[str, Any]:
    """A query and what it finds."""
    arrays = {name: packed(getattr(found, name), "f4") for name in ("patches", "extra", "stored")}
    return {"text": found.query.text, "tokens": list(found.query.tokens)} | arrays


def of_floors(method: Method) -> dict[str, Any]:
    """The choices of c_min, as numbers and as the name of a method writes them."""
    values = floors(method)
    own = values.index(getattr(method, "c_min", 0.0)) if values else 0
    return {"values": values, "texts": [as_text(value) for value in values], "own": own}


def fitting(parts: Sequence[Any], room: int, first: int = 0) -> list[int]:
    """Which parts fit into so many characters together: the nearest to `first`, until one does not."""
    order = sorted(range(len(parts)), key=lambda i: abs(i - first))
    sizes = accumulate(len(as_json(parts[i])) for i in order)
    return sorted(i for i, size in zip(order, sizes, strict=True) if size <= room)


def heat_top(attention: Floats | None) -> float:
    """Where the heat of attention is full: q75 + 3 IQR, where pruning clips it, or the highest if that is less."""
    if attention is None:
        return 0.0
    low, high = np.quantile(attention.astype(np.float64), [0.25, 0.75])
    return float(min(attention.max(), high + 3 * (high - low)) or attention.max())


def as_json(data: Any) -> str:
    """JSON that no HTML parser can mistake for its own: without '<', '>' and '&'."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
