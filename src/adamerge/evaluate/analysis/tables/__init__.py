"""Every table by the name that the command line has for it: a function of results and of few options.

significance   AdaMerge against PtM, any methods, every method against its controls
ablation       the two parts of AdaMerge
cuts           theta, where pages are cut
costs          efficiency, in time and bytes
in_bytes       bytes, of methods in fewer bits
variants       unit length, and the readings of the sequence
provenance     the datasets, and what made the results
"""

from collections.abc import Callable

from adamerge.evaluate.analysis.frontier import frontier
from adamerge.evaluate.analysis.table import Table
from adamerge.evaluate.analysis.tables.ablation import ablation
from adamerge.evaluate.analysis.tables.costs import efficiency
from adamerge.evaluate.analysis.tables.cuts import theta
from adamerge.evaluate.analysis.tables.in_bytes import in_bytes
from adamerge.evaluate.analysis.tables.provenance import datasets, manifest
from adamerge.evaluate.analysis.tables.significance import controls, significance
from adamerge.evaluate.analysis.tables.variants import sequence, unit

__all__ = [
    "TABLES",
    "ablation",
    "controls",
    "datasets",
    "efficiency",
    "frontier",
    "in_bytes",
    "manifest",
    "sequence",
    "significance",
    "theta",
    "unit",
]

TABLES: dict[str, Callable[..., Table]] = {
    "frontier": frontier,
    "significance": significance,
    "ablation": ablation,
    "controls": controls,
    "theta": theta,
    "efficiency": efficiency,
    "unit": unit,
    "sequence": sequence,
    "bytes": in_bytes,
}
