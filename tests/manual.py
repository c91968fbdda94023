"""A small manual with a back-of-book index, made with reportlab: front matter, numbered pages, two columns of index."""

from reportlab.pdfgen.canvas import Canvas

NOUNS = [
    "anchor",
    "basket",
    "candle",
    "dagger",
    "engine",
    "fiddle",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "mirror",
    "needle",
    "orchard",
]
NOUNS += [
    "pillow",
    "quarry",
    "ribbon",
    "saddle",
    "teapot",
    "umbrella",
    "violin",
    "window",
    "xylem",
    "yogurt",
    "zipper",
]
ADJECTIVES = ["amber", "brittle", "crooked"]
FRONT = 3


def topic(number):
    """What page `number` is about: three words that no neighbour shares."""
    return f"{ADJECTIVES[number % 3]} {NOUNS[number % len(NOUNS)]}"


def make(path, pages=26, *, shift=0, labels=False, outline=True, index=True, blank=()):
    """Write the manual; with `shift` its index names pages that far off, and of `blank` pages that have no text."""
    canvas = Canvas(str(path), pagesize=(400, 600))
    if labels:
        canvas.addPageLabel(0, "ROMAN_LOWER", 1)
        canvas.addPageLabel(FRONT, "ARABIC", 1)
    for i in range(FRONT):
        canvas.drawString(40, 500, f"Front matter, part {'abc'[i]}")
        canvas.showPage()
    for number in range(1, pages + 1):
        if number not in blank:
            canvas.drawString(40, 560, f"The Manual {number}")
            canvas.drawString(40, 500, f"A chapter on the {topic(number)}")
            canvas.drawString(
                40, 480, f"It goes on about {NOUNS[number % len(NOUNS)]} repair for a while."
            )
        canvas.showPage()
    if index:
        _index(canvas, pages, shift, outline)
    canvas.save()
    return path


def _index(canvas, pages, shift, outline):
    if outline:
        canvas.bookmarkPage("index")
        canvas.addOutlineEntry("Subject Index", "index", 0)
    canvas.drawString(40, 560, f"Subject Index {pages + 1}")
    rows = [(0, f"{topic(n)} . . . . . . {n + shift}") for n in range(1, pages + 1)]
    rows[2:2] = [
        (0, "repair of things"),
        (12, f"{NOUNS[1]} repair, {1 + shift}"),
        (12, f"{NOUNS[2]} repair, {2 + shift}"),
    ]
    half = (len(rows) + 1) // 2
    for i, (indent, text) in enumerate(rows):
        canvas.drawString((40 if i < half else 220) + indent, 530 - 16 * (i % half), text)
    canvas.showPage()
