"""Rows of the prompt, which a model gives before and after the patches of a page, become `extra`."""

from pathlib import Path

import numpy as np

from adamerge.errors import BadInput, BadShape
from adamerge.types import MultiVector


def split_prompt(page: MultiVector, rows: tuple[int, int], path: Path) -> MultiVector:
    """The page with its first and last rows as extra, before those that it has; `path` names its file in errors."""
    before, after = rows
    end = len(page) - after
    if end <= before:
        raise BadShape(
            f"{path}, page '{page.id}' has {len(page)} rows, and {before} + {after} of them were to be prompt"
        )
    if before == 0 and after == 0:
        return page

    extra = [page.vectors[:before], page.vectors[end:]]
    if page.extra is not None:
        extra.append(page.extra)
    attention = page.attention
    if attention is not None:
        attention = attention[before:end]
    boxes = page.boxes
    if boxes is not None:
        boxes = boxes[before:end]
    try:
        return MultiVector(
            vectors=page.vectors[before:end],
            attention=attention,
            extra=np.concatenate(extra),
            grid=page.grid,
            boxes=boxes,
            id=page.id,
        )
    except BadInput as error:  # a grid that counts the prompt
        raise type(error)(f"{path}, page '{page.id}' without its prompt: {error}") from None
