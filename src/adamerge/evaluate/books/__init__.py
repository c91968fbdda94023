"""PDF manuals -> datasets that people have judged: a term of the index is a query, the pages it names are its answers.

This room stands apart from the other four: it makes folders that `data` reads.

debian_packages   known manuals by name, from the Debian archive
manual_pdf        the text of a PDF, its index pages, and the numbers printed on its pages
index_entries     lines of an index -> terms and page numbers
build             all of that -> a Book
book              a Book, written as a folder and read again
make_folder       a name or a PDF -> the folder of its book
"""

from adamerge.evaluate.books.book import BOOK_FILE, Book, page_id, read_book, write_book
from adamerge.evaluate.books.build import MOST_QUERIES, build_book, sample_judgements
from adamerge.evaluate.books.debian_packages import BOOKS, SUITES
from adamerge.evaluate.books.make_folder import make_book_folder
from adamerge.evaluate.books.manual_pdf import open_pdf, page_text

__all__ = [
    "BOOKS",
    "BOOK_FILE",
    "MOST_QUERIES",
    "SUITES",
    "Book",
    "build_book",
    "make_book_folder",
    "open_pdf",
    "page_id",
    "page_text",
    "read_book",
    "sample_judgements",
    "write_book",
]
