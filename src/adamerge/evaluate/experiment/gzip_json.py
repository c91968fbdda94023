"""JSON in gzip files without a date, so that the same content is the same bytes."""

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from adamerge import files
from adamerge.errors import Damaged


def write_json_lines(path: Path, objects: Iterable[Mapping[str, Any]]) -> None:
    """Write a gzip file with an object a line; it is there whole or not at all."""
    lines = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in objects]
    text = "\n".join(lines)
    files.write(path, gzip.compress(text.encode(), mtime=0))


def parse_json_lines(content: bytes, path: Path) -> list[dict[str, Any]]:
    """The objects of a gzip file; `path` is what an error names."""
    try:
        lines = gzip.decompress(content).splitlines()
        objects = [json.loads(line) for line in lines]
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise Damaged(f"{path} cannot be read ({error}): remove it, and run again") from None

    if not objects or not all(isinstance(one, dict) for one in objects):
        raise Damaged(f"{path} cannot be read (not JSON objects): remove it, and run again")
    return objects
