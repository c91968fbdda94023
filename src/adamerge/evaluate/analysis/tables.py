"""Every table by the name that the command line has for it: a function of results and of few options."""

from collections.abc import Callable

from adamerge.evaluate.analysis.ablation import ablation
from adamerge.evaluate.analysis.costs import efficiency
from adamerge.evaluate.analysis.cuts import theta
from adamerge.evaluate.analysis.frontier import frontier
from adamerge.evaluate.analysis.provenance import datasets, manifest
from adamerge.evaluate.analysis.significance import controls, significance
from adamerge.evaluate.analysis.table import Table
from adamerge.evaluate.analysis.variants import sequence, unit

__all__ = [
    "TABLES",
    "ablation",
    "controls",
    "datasets",
    "efficiency",
    "frontier",
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
}
