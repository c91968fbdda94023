"""PDF manuals become datasets that people have judged."""

import json
import os

import manual
import pytest
from cli import run

from adamerge.errors import BadFile, MissingExtra, UnknownName
from adamerge.evaluate.books import BOOKS, build_book, write_book
from adamerge.evaluate.books.debian_packages import fetch_pdf
from adamerge.evaluate.books.manual_pdf import find_index, number_pages, open_pdf
from adamerge.evaluate.data import load_dataset
from adamerge.evaluate.data.book_folder import read_book_folder


@pytest.fixture
def pdf(tmp_path):
    return manual.make(tmp_path / "manual.pdf")


def test_terms_are_queries_and_the_pages_they_name_judgements(pdf):
    book = build_book(pdf, "manual")
    assert book.pages == tuple(range(manual.FRONT + 1, manual.FRONT + 27))
    judged = {book.queries[q]: list(pages) for q, pages in book.judgements.items()}
    assert judged[manual.topic(5)] == [f"manual.pdf#{manual.FRONT + 5}"]
    assert judged["repair of things candle repair"] == [f"manual.pdf#{manual.FRONT + 2}"]
    assert len(judged) == 28


@pytest.mark.parametrize(
    ("labels", "outline"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_numbers_are_read_from_labels_or_from_print_and_the_index_by_outline_or_by_look(
    tmp_path, labels, outline
):
    path = manual.make(tmp_path / "m.pdf", labels=labels, outline=outline)
    with open_pdf(path) as document:
        pages, end = find_index(document)
        body = number_pages(document, end)
    assert (pages, end) == ([manual.FRONT + 26], manual.FRONT + 26)
    assert body.pages == {n: n + manual.FRONT - 1 for n in range(1, 27)}
    assert body.how == ("labels" if labels else f"offset +{manual.FRONT - 1}, 27 pages agree")


def test_a_page_without_text_is_no_page_and_no_answer(tmp_path):
    book = build_book(manual.make(tmp_path / "manual.pdf", blank=(7,)), "manual")
    assert len(book.pages) == 25
    assert manual.topic(7) not in book.queries.values()
    write_book(book, tmp_path / "manual.pdf", tmp_path / "data")
    assert len(read_book_folder(tmp_path / "data").queries) == 27


@pytest.mark.parametrize("shift", [1, -1, 7])
def test_a_book_whose_numbers_lead_elsewhere_is_refused(tmp_path, shift):
    path = manual.make(tmp_path / "m.pdf", shift=shift)
    with pytest.raises(BadFile, match="the numbers in the index do not lead to its words"):
        build_book(path, "m")


def test_a_book_without_an_index_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"m\.pdf: the book has no back-of-book index"):
        build_book(manual.make(tmp_path / "m.pdf", index=False), "m")


def test_a_folder_gives_its_dataset_back(pdf, tmp_path):
    book = build_book(pdf, "manual", most=10)
    write_book(book, pdf, tmp_path / "data" / "manual")
    dataset = read_book_folder(tmp_path / "data" / "manual")
    assert (len(dataset), len(dataset.queries), dataset.pairs) == (26, 10, 10)
    assert [page.id for page in dataset.read(())] == list(dataset.page_ids)
    assert [page.id for page in dataset.read(dataset.page_ids[:24])] == list(dataset.page_ids[24:])
    assert manual.topic(9) in dataset.texts()[f"manual.pdf#{manual.FRONT + 9}"]
    assert sorted(p.name for p in (tmp_path / "data" / "manual").iterdir()) == [
        "dataset.json",
        "manual.pdf",
    ]


def test_a_dataset_is_called_as_its_folder(pdf, tmp_path):
    write_book(build_book(pdf, "manual"), pdf, tmp_path / "other")
    dataset = load_dataset(str(tmp_path / "other"), tmp_path / "data")
    assert (dataset.name, dataset.page_ids[0]) == ("other", f"manual.pdf#{manual.FRONT + 1}")


def test_the_same_queries_are_drawn_every_time(pdf):
    few, many = build_book(pdf, "manual", most=5), build_book(pdf, "manual", most=20)
    assert few == build_book(pdf, "manual", most=5)
    assert set(few.queries.values()) < set(many.queries.values())


def test_a_folder_whose_pdf_was_changed_is_refused(pdf, tmp_path):
    write_book(build_book(pdf, "manual"), pdf, tmp_path / "data")
    manual.make(tmp_path / "data" / "manual.pdf", pages=20)
    with pytest.raises(BadFile, match="not the file that"):
        read_book_folder(tmp_path / "data")
    (tmp_path / "data" / "dataset.json").write_text("{}")
    with pytest.raises(BadFile, match="cannot be read as a book"):
        read_book_folder(tmp_path / "data")


def test_the_verb_builds_a_book_and_prints_twenty_judgements(pdf, tmp_path):
    done = run("dataset", "books", pdf, "-o", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("manual: 26 pages, 28 queries, 28 judgements\n")
    assert sum(line.startswith("    manual.pdf#") for line in done.stdout.splitlines()) == 20
    written = json.loads((tmp_path / "data" / "manual" / "dataset.json").read_text())
    assert written["fit"]["here"] > 0.95 > 0.5 > written["fit"]["after"]


def test_the_verb_says_in_one_line_what_it_cannot_do(tmp_path):
    done = run("dataset", "books", "bible", "-o", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("adamerge: no book 'bible'; choose from lilypond-learning,")
    with pytest.raises(UnknownName, match="no dataset 'nothing'"):
        load_dataset("nothing", tmp_path)


def test_known_books_need_the_tools_of_debian(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match="fetching 'zsh' needs apt-get"):
        fetch_pdf("zsh", tmp_path)


def test_a_known_book_is_taken_out_of_its_package(monkeypatch, tmp_path):
    """A package of our own behind an apt-get of our own: the real dpkg-deb unpacks it."""
    root = tmp_path / "root"
    package, inside = BOOKS["zsh"]
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(
        f"Package: {package}\nVersion: 1\nArchitecture: all\nMaintainer: us\nDescription: a manual\n"
    )
    (root / inside).parent.mkdir(parents=True)
    manual.make(root / inside)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "apt-get").write_text(f"#!/bin/sh\nexec dpkg-deb --build {root} {package}_1_all.deb\n")
    (tools / "apt-get").chmod(0o755)
    monkeypatch.setitem(os.environ, "PATH", f"{tools}:{os.environ['PATH']}")
    dataset = load_dataset("zsh", tmp_path / "data")
    assert (dataset.name, len(dataset), len(dataset.queries)) == ("zsh", 26, 28)
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["zsh"]
