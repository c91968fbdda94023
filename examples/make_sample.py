"""Makes sample.pdf, four pages of our own words: python examples/make_sample.py (needs reportlab)."""

from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer

PAGES = {
    "Finding pages by many vectors": [
        "An encoder of the ColPali family looks at the picture of a page and gives a vector for every patch "
        "of it, seven hundred or more. A question becomes a vector for every word. A page answers a word as "
        "well as its best patch does, and the page's score is the sum over all words. This is late "
        "interaction: nothing is averaged before the question is known, so a number in a small table can "
        "still be found.",
        "The price is storage. A page of seven hundred vectors in half precision takes two hundred kilobytes, "
        "a hundred times more than one vector would. Most of those vectors say the same thing: margins, white "
        "space, the grey background of a slide, the letters of one word.",
    ],
    "Pruning: what the encoder ignores": [
        "The last token of the sequence has read the whole page. How much attention it pays to each patch "
        "tells how much that patch mattered. Patches below a threshold are dropped. The threshold belongs to "
        "the page: the mean of its attention plus k standard deviations, so that a dense page keeps more than "
        "an empty one.",
        "A few patches soak up attention without meaning anything. These sinks would raise the deviation "
        "until the threshold is useless, so attention is clipped before its statistics are taken. If nothing "
        "passes, the most attended patch stays: a page never vanishes from an index.",
    ],
    "Linking and cutting: the cliff": [
        "The patches that are left are joined two by two, always the closest pair, until one group remains. "
        "Ward's rule says which pair is closest: the one whose union spreads the least. The result is a tree, "
        "and every join in it has a similarity. Early joins unite duplicates, late ones unite strangers.",
        "Somewhere in between the similarity falls off a cliff. Joining past it would average things that "
        "differ, so the tree is cut there. Nobody has to choose how many groups a page may have, or tune a "
        "budget for a new collection of documents: each page shows its own place to stop.",
    ],
    "Pooling: one vector for each group": [
        "Every group is stored as one vector, the mean of its members weighted by attention. A patch that "
        "mattered pulls the mean towards itself; a group that nobody looked at falls back to the plain mean. "
        "A patch alone in its group is stored as it was, to the last bit.",
        "A quarter of the vectors is left, often less, and the same pages are found. Where every patch went "
        "is remembered, so that a heat map can still be drawn on the page, and so that the loss can be "
        "measured: the best match of each word before compression and after it, side by side.",
    ],
}


def main() -> None:
    """Write the file beside this one."""
    style = getSampleStyleSheet()
    style["BodyText"].fontSize, style["BodyText"].leading = 14, 20
    story = []
    for title, paragraphs in PAGES.items():
        story += [Paragraph(title, style["Title"]), Spacer(1, 12)]
        story += [Paragraph(text, style["BodyText"]) for text in paragraphs]
        story += [PageBreak()]
    path = Path(__file__).with_name("sample.pdf")
    SimpleDocTemplate(
        str(path), pagesize=A4, title="How adamerge stores a page", invariant=1
    ).build(story)


if __name__ == "__main__":
    main()
