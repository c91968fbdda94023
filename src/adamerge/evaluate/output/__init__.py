"""What is shown: tables as text, figures, one HTML page of everything, and results beside published numbers.

table_formats   a table as Markdown, LaTeX and CSV
plotting        the style of all figures, and a figure as SVG or PNG
frontier_plot   figure: measure against compression
cliff_plot      figure: where pages are cut
figures         every figure by the name that the command line has for it
published       the numbers that were published, with their sources (published.json)
compare         results beside published numbers
html_report     all tables and figures in one page (report_page.html), or as a file each
"""

from adamerge.evaluate.output import figures
from adamerge.evaluate.output.compare import compare
from adamerge.evaluate.output.html_report import report_tables, write_page, write_parts
from adamerge.evaluate.output.table_formats import FORMATS, format_table, save_table

__all__ = [
    "FORMATS",
    "compare",
    "figures",
    "format_table",
    "report_tables",
    "save_table",
    "write_page",
    "write_parts",
]
