"""What happened to a page: its patches, attention, groups, curve and queries, as one HTML file."""

from adamerge.inspector.inspection import Inspection, inspect
from adamerge.inspector.query_scores import Query

__all__ = ["Inspection", "Query", "inspect"]
