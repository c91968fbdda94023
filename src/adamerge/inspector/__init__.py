"""What happened to a page: its patches, attention, groups, curve and queries, as one HTML file.

page_address.py       what a person types -> a page; stored_page.py: a page of a store, encoded again
k_sweep.py            the method at each k, with its merge tree; node_statistics.py: figures of its nodes
query_scores.py       inner products of queries and patches
patch_positions.py    where patches are drawn; group_colours.py: which group has which colour
picture.py            the picture of the page; curve_svg.py: the curve as SVG
inspection.py         all of it together; missing_parts.py: why a part is missing
page_json.py          what the browser reads
page_html.py          one file of it, by html_file
web/                  page.html, page.css and the JavaScript modules; main.js is the first
"""

from adamerge.inspector.inspection import Inspection, inspect
from adamerge.inspector.query_scores import Query

__all__ = ["Inspection", "Query", "inspect"]
