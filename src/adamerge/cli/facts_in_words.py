"""What a store or a folder of vectors holds, as a person reads it."""

from collections.abc import Mapping
from typing import Any

from adamerge.cli.text_table import counted

NAMES = {  # of facts, where the usual word is another than that of the manifest
    "name": "encoder",
    "revision": "revision of the encoder",
    "options": "options of the encoder",
    "bytes_before": "bytes before",
    "bytes_after": "bytes after",
}


def in_words(facts: Mapping[str, Any]) -> str:
    """Facts as a person reads them, a line each; empty ones are left out."""
    lines = []
    for key, value in facts.items():
        if value not in ({}, [], ""):
            lines.append(f"{NAMES.get(key, key):<24}{_value_in_words(key, value)}")
    return "\n".join(lines)


def summary(facts: Mapping[str, Any]) -> str:
    """The facts that matter most, in one line: pages, vectors and bytes."""
    parts = [counted(facts["pages"], "page")]
    if facts.get("files"):
        parts[0] += f" of {counted(facts['files'], 'file')}"
    if "stored" in facts:
        share = f"{facts['compression']:.1%} compression"
        parts.append(f"{counted(facts['stored'], 'vector')} ({share})")
    size = facts.get("bytes in all") or facts.get("bytes on disk")
    if size:
        parts.append(bytes_in_words(size))
    return ", ".join(parts)


def bytes_in_words(count: float) -> str:
    """A number of bytes with a unit: 812 bytes, 1.4 MB."""
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            return f"{count:.3g} {unit}"
    return f"{count / 1000:,.3g} TB"


def _value_in_words(key: str, value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if not isinstance(value, int | float):
        return str(value)
    if key == "compression":
        return f"{value:.1%} of the patches are not stored"
    if "bytes" in key:
        return bytes_in_words(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3g}"
