"""Pictures -> words, by RapidOCR with the models in its wheel. Needs the extra `ocr`."""

from functools import cache
from typing import Any

import numpy as np
from rapidocr import RapidOCR

from adamerge.types import Word


def words(image: Any) -> tuple[Word, ...]:
    """The words of a picture; those of a line share its height and its width by their letters."""
    found = _engine()(np.asarray(image.convert("RGB"))[:, :, ::-1])  # RapidOCR expects blue first
    if found.boxes is None or found.txts is None:
        return ()
    width, height = image.size
    out = []
    for corners, text in zip(found.boxes, found.txts, strict=True):
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        out += _split(text, (left / width, top / height, right / width, bottom / height))
    return tuple(out)


def _split(line: str, box: tuple[float, float, float, float]) -> list[Word]:
    left, top, right, bottom = box
    step, at, out = (right - left) / max(len(line), 1), 0, []
    for word in line.split():
        at = line.index(word, at)
        out.append(Word(word, (left + at * step, top, left + (at + len(word)) * step, bottom)))
        at += len(word)
    return out


@cache
def _engine() -> Any:
    return RapidOCR(params={"Global.log_level": "error"})
