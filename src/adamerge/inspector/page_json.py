"""An inspection -> the JSON that its page reads. Arrays are base64 of little-endian bytes, exact to the last bit."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from adamerge.arrays import Floats
from adamerge.compress import Method
from adamerge.compress.merge import pooling_weights, rule_of
from adamerge.compress.names import as_text
from adamerge.html_file import to_json
from adamerge.inspector.group_colours import group_colours, node_colours
from adamerge.inspector.k_sweep import Step, floor_choices, stop_rule
from adamerge.inspector.node_statistics import mean_cosines, pooled_lengths
from adamerge.inspector.query_scores import QueryScores
from adamerge.types import MultiVector, Tree

Data = dict[str, Any]

MAX_CHARACTERS = 2_900_000  # of data and picture together, so that the file stays under 3 MB
MIN_PICTURE = 250_000  # of them for the picture, however much else there is
DTYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u2": "<u2"}


def step_data(step: Step, page: MultiVector, near: list[set[int]]) -> Data:
    """The method at one k: the survivors, their tree with figures of its nodes, and the method's own cut.

    near  the neighbours of each patch of the page
    """
    data: Data = {
        "k": as_text(getattr(step.method, "k", None)),
        "name": step.name,
        "kept": pack(step.kept, "i4"),
    }
    if step.tree is None:
        return data | _groups_data(step, near)
    return data | _tree_data(step, step.tree, page, near)


def _groups_data(step: Step, near: list[set[int]]) -> Data:
    """The groups of a method that has no tree. Groups of one patch each need not be told."""
    data = dict.fromkeys(("merges", "cosines", "sequence", "mean_cosines", "lengths", "groups"), "")
    groups = step.small.groups
    if stop_rule(step) == "own":
        data["groups"] = pack(groups, "i4")
    colours = pack(group_colours(near, groups), "u2")
    return data | {"made": step.small.cut.merges, "colours": colours}


def _tree_data(step: Step, tree: Tree, page: MultiVector, near: list[set[int]]) -> Data:
    vectors = page.vectors[step.kept]
    of_merges = mean_cosines(tree, vectors)[len(tree) :]  # that of a single patch is 1
    colours = node_colours(_among_kept(near, step), tree.merges)
    return {
        "merges": pack(tree.merges, "i4"),
        "cosines": pack(tree.cosines, "f8"),
        "sequence": pack(step.sequence, "f8"),
        "made": len(tree) - len(step.small),
        "groups": "",
        "mean_cosines": pack(of_merges, "f4"),
        "lengths": _packed_lengths(step, tree, page),
        "colours": pack(colours, "u2"),
    }


def _among_kept(near: list[set[int]], step: Step) -> list[set[int]]:
    """The neighbours of each survivor that survived too, by their places among the survivors."""
    kept = step.kept.tolist()
    place = {patch: i for i, patch in enumerate(kept)}
    survivors = []
    for patch in kept:
        survivors.append({place[j] for j in near[patch] if j in place})
    return survivors


def _packed_lengths(step: Step, tree: Tree, page: MultiVector) -> str:
    """The length of each node's pooled vector; empty if the method does not scale it to 1."""
    rule = rule_of(step.method)
    if not rule.unit:
        return ""
    weights = pooling_weights(page, rule)
    if weights is not None:
        weights = weights[step.kept]
    return pack(pooled_lengths(tree, page.vectors[step.kept], weights), "f4")


def query_data(scores: QueryScores) -> Data:
    """A query and its inner products with the page."""
    return {
        "text": scores.query.text,
        "tokens": list(scores.query.tokens),
        "patches": pack(scores.patches, "f4"),
        "extra": pack(scores.extra, "f4"),
        "stored": pack(scores.stored, "f4"),
    }


def floor_data(method: Method) -> Data:
    """The choices of c_min, as numbers and as the name of a method writes them, and which is the method's own."""
    values = floor_choices(method)
    own = values.index(getattr(method, "c_min", 0.0)) if values else 0
    texts = [as_text(value) for value in values]
    return {"values": values, "texts": texts, "own": own}


def attention_data(attention: Floats | None) -> Data:
    """The attention of each patch, and the attention that is drawn darkest.

    That is q75 + 3 IQR, where pruning clips attention, or the highest attention if it is less.
    """
    if attention is None:
        return {"attention": "", "darkest": 0.0}
    low, high = np.quantile(attention.astype(np.float64), [0.25, 0.75])
    highest = attention.max()
    darkest = min(highest, high + 3 * (high - low)) or highest
    return {"attention": pack(attention, "f4"), "darkest": float(darkest)}


def leave_out(page: Data, steps: Sequence[Data], own: int, queries: Sequence[Data]) -> Data:
    """The data of a page with the steps and queries that fit into one file.

    The method's own step is always there. Queries come next, in their order; then the other steps, those of the nearest
    k first.
    """
    own_size = _size(steps[own])
    room = MAX_CHARACTERS - MIN_PICTURE - _size(page) - own_size
    asked = [queries[i] for i in which_fit(queries, room)]

    room_for_steps = own_size + max(0, room - _size(asked))
    kept = which_fit(steps, room_for_steps, own)
    return page | {
        "steps": [steps[i] for i in kept],
        "own": kept.index(own),
        "queries": asked,
    }


def which_fit(parts: Sequence[Any], room: int, first: int = 0) -> list[int]:
    """Which parts fit into so many characters together: the nearest to `first`, until one does not fit."""
    nearest = sorted(range(len(parts)), key=lambda i: abs(i - first))
    fitting = []
    for i in nearest:
        room -= _size(parts[i])
        if room < 0:
            break
        fitting.append(i)
    return sorted(fitting)


def room_for_picture(data: str) -> int:
    """How many characters the picture may take beside the JSON of the page."""
    return max(MAX_CHARACTERS - len(data), MIN_PICTURE)


def pack(values: Any, kind: str) -> str:
    """An array as text: base64 of its bytes in one of DTYPES."""
    array = np.ascontiguousarray(values, DTYPES[kind])
    return b64encode(array.tobytes()).decode()


def _size(data: Any) -> int:
    return len(to_json(data))
