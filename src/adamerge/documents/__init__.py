"""Files -> pages, one at a time: PDF, images, and office files where LibreOffice is installed.

rendering   how fine pages are rendered, and how large one may be
images      PNG, JPEG, WebP, TIFF with several frames
office      DOCX, PPTX, ODT, HTML and their like become a PDF, by LibreOffice
find        paths, folders, globs and addresses in buckets -> the files that hold pages
download    a file in a bucket -> a temporary file on this disk
pdf         the pictures and words of a PDF
read        a file -> its pages
"""

from adamerge.documents.find import find_files, other_files, readable_suffixes
from adamerge.documents.read import (
    Report,
    count_file,
    count_pages,
    estimate_pages,
    page_id,
    read_file,
    read_pages,
)
from adamerge.documents.rendering import DPI

__all__ = [
    "DPI",
    "Report",
    "count_file",
    "count_pages",
    "estimate_pages",
    "find_files",
    "other_files",
    "page_id",
    "read_file",
    "read_pages",
    "readable_suffixes",
]
