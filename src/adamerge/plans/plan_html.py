"""A plan -> one HTML file: the frontier of bytes against loss, as a plot and as a table."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamerge.html_file import HtmlTemplate, to_json

if TYPE_CHECKING:
    from adamerge.plans.planning import Plan

TEMPLATE = HtmlTemplate(Path(__file__).parent / "web")


def render(found: "Plan") -> str:
    """The whole file."""
    title = "What to store, and what it loses"
    if found.target is not None:
        title = f"What to store for {found.target}"
    return TEMPLATE.render("plan", title, to_json(_data(found)))


def _data(found: "Plan") -> dict[str, Any]:
    """What the script reads; rows have the fewest bytes first."""
    rows = sorted(found.rows, key=lambda row: row.bytes_per_page)
    tried = sorted(found.tried, key=lambda row: row.bytes_per_page)
    return {
        "target": _target_data(found),
        "sentence": str(found),
        "sample": _sample(found),
        "rows": [asdict(row) for row in rows],
        "tried": [asdict(row) for row in tried],
    }


def _target_data(found: "Plan") -> dict[str, Any] | None:
    if found.target is None:
        return None
    return {"kind": found.target.kind, "value": found.target.value, "text": str(found.target)}


def _sample(found: "Plan") -> str:
    """What was measured, in words."""
    queries = "queries that people asked"
    if found.are_drawn:
        queries = "queries drawn from them"
    measured = f"Measured on {found.pages:,} pages by {found.queries:,} {queries}."
    if found.is_judged:
        return measured
    encoder = found.encoder or "this encoder"
    return (
        f"{measured} No judged pages of {encoder} are known: losses are extrapolated from minilm."
    )
