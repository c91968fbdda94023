"""What is shown: tables as text, figures, one HTML page of everything, and results beside published numbers.

table_formats   a table as Markdown, LaTeX and CSV
plotting        the style of all figures, and a figure as SVG or PNG
frontier_plot   figure: measure against compression
cliff_plot      figure: where pages are cut
figures         every figure by the name that the command line has for it
published       the numbers that were published, with their sources (published.json)
our_numbers     ours beside each, by kind
compare         results beside published numbers
paper_elements  every figure and table of the paper by its number; paper_figures draws the figures
html_report     tables and figures in one page (report_page.html), or as a file each
"""

from adamerge.evaluate.output import figures
from adamerge.evaluate.output.compare import compare
from adamerge.evaluate.output.html_report import (
    report_figures,
    report_tables,
    write_page,
    write_parts,
)
from adamerge.evaluate.output.paper_elements import paper_figures, paper_tables, require_paper
from adamerge.evaluate.output.table_formats import FORMATS, format_table, save_table

__all__ = [
    "FORMATS",
    "compare",
    "figures",
    "format_table",
    "paper_figures",
    "paper_tables",
    "report_figures",
    "report_tables",
    "require_paper",
    "save_table",
    "write_page",
    "write_parts",
]
