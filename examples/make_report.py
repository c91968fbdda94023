"""Makes report.pdf, the report of a harbour that does not exist: python examples/make_report.py (needs reportlab).

Six pages with text, tables and charts, for `make demo`. Every word and every figure of it is made up by us.
"""

from pathlib import Path

from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing, String
from reportlab.lib.colors import HexColor, white
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

NAVY, SEA, FOAM, INK = (
    HexColor("#12324f"),
    HexColor("#2a7f9e"),
    HexColor("#e8f1f5"),
    HexColor("#222"),
)
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WIDTH, HEIGHT = 21 * cm, 20 * cm  # of a page
COLUMN = 16 * cm  # what is printed on

TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=22, leading=27, textColor=NAVY)
LEAD = ParagraphStyle("lead", fontName="Helvetica", fontSize=12.5, leading=18, textColor=SEA)
BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=12, leading=17.5, textColor=INK)
CAPTION = ParagraphStyle("caption", fontName="Helvetica-Oblique", fontSize=9.5, textColor=SEA)


def title(text, lead):
    """The head of a page: what it is about, and its most important sentence."""
    return [Paragraph(text, TITLE), Spacer(1, 6), Paragraph(lead, LEAD), Spacer(1, 14)]


def text(*paragraphs):
    """Running text."""
    story = []
    for paragraph in paragraphs:
        story += [Paragraph(paragraph, BODY), Spacer(1, 10)]
    return story


def table(caption, rows, widths):
    """A table with a head; its first column is of words, the others of numbers."""
    style = TableStyle(
        [
            ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 10),
            ("FONT", (0, 1), (-1, -1), "Helvetica", 10),
            ("BACKGROUND", (0, 0), (-1, 0), NAVY),
            ("TEXTCOLOR", (0, 0), (-1, 0), white),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [white, FOAM]),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
            ("TOPPADDING", (0, 0), (-1, -1), 6),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 6),
        ]
    )
    columns = [width * cm for width in widths]
    return [
        Paragraph(caption, CAPTION),
        Spacer(1, 6),
        Table(rows, columns, style=style),
        Spacer(1, 14),
    ]


def figure(caption, chart, values, highest, unit):
    """A chart of twelve months."""
    drawing = Drawing(COLUMN, 7 * cm)
    chart.x, chart.y, chart.width, chart.height = 36, 24, COLUMN - 50, 5.4 * cm
    chart.data = [values]
    chart.categoryAxis.categoryNames = MONTHS
    chart.valueAxis.valueMin, chart.valueAxis.valueMax = 0, highest
    chart.valueAxis.strokeColor = chart.categoryAxis.strokeColor = NAVY
    drawing.add(chart)
    drawing.add(String(0, 6.5 * cm, unit, fontName="Helvetica", fontSize=9, fillColor=NAVY))
    return [drawing, Paragraph(caption, CAPTION), Spacer(1, 14)]


def bars(caption, values, highest, unit):
    """A bar for each month."""
    chart = VerticalBarChart()
    chart.bars[0].fillColor, chart.bars[0].strokeColor = SEA, None
    return figure(caption, chart, values, highest, unit)


def line(caption, values, highest, unit):
    """A line over the months."""
    chart = HorizontalLineChart()
    chart.lines[0].strokeColor, chart.lines[0].strokeWidth = SEA, 2.5
    return figure(caption, chart, values, highest, unit)


def summary():
    """Page 1."""
    yield from title(
        "Wendmere Harbour: report for 2025",
        "A year of many visitors, one great storm, and a crane that is whole again.",
    )
    yield from text(
        "Wendmere is a small harbour on a shallow coast. Fishing boats, a ferry to the islands, freighters "
        "with timber and grain, and in summer a great many sailing boats share its two piers. This report "
        "tells the town council what came in, what it paid, what broke, and what we plan.",
        "Four thousand three hundred and ten vessels called, six in a hundred more than the year before. "
        "Income grew to 1.93 million crowns. For the first time guests brought more of it than freight.",
        "The storm of the eleventh of November cost us forty metres of the north pier. Nobody was hurt. The "
        "insurance has paid for most of the work, and the pier opens again before Easter.",
    )
    rows = [["In short", "2024", "2025"], ["Vessels", "4,066", "4,310"]]
    rows += [["Income, crowns", "1,780,000", "1,930,000"], ["Freight, tonnes", "61,200", "58,900"]]
    rows += [["Ferry passengers", "88,400", "97,150"], ["Accidents with injury", "2", "0"]]
    yield from table("Table 1. The year in five numbers.", rows, (8, 4, 4))


def traffic():
    """Page 2."""
    yield from title("Who came", "More than half of all vessels call between June and August.")
    calls = [118, 124, 205, 312, 441, 702, 958, 811, 318, 158, 79, 84]
    yield from bars("Figure 1. Vessels that called, by month.", calls, 1000, "vessels")
    yield from text(
        "July was the busiest month since we began to count: nine hundred and fifty-eight vessels, most of "
        "them sailing boats that stay for two nights. November was the quietest, because the port was "
        "closed for nine days after the storm.",
        "The ferry carried 97,150 passengers to the islands. On nineteen days it did not sail: fourteen for "
        "wind, five for fog. Freighters brought timber in spring and took grain away in autumn, as they "
        "always did.",
    )


def dues():
    """Page 3."""
    yield from title("What a berth costs", "Dues were raised once, in April, by four in a hundred.")
    rows = [["Vessel", "A night", "A month", "Income 2025"]]
    rows += [["Sailing boat up to 8 m", "14", "260", "214,000"]]
    rows += [["Sailing boat up to 12 m", "21", "390", "388,000"]]
    rows += [["Motor yacht", "34", "640", "296,000"], ["Fishing boat", "9", "120", "71,000"]]
    rows += [
        ["Ferry", "contract", "24,000", "288,000"],
        ["Freighter", "180", "by tonne", "673,000"],
    ]
    yield from table(
        "Table 2. Dues in crowns, and what each kind of vessel paid.", rows, (6, 3, 3, 4)
    )
    yield from text(
        "Electricity and water are in the price of a night. A guest who arrives after ten in the evening "
        "pays at the machine by the lamp, or in the morning at the office. Children learn to sail for "
        "nothing: the dues of the sailing school are carried by the town.",
        "Fishing boats pay the least, and have since 1974. We propose to leave it so.",
    )


def weather():
    """Page 4."""
    yield from title("Water and wind", "On 11 November the sea stood 2.9 metres above its mean.")
    levels = [1.4, 1.3, 1.5, 1.1, 0.9, 0.8, 0.7, 0.9, 1.2, 1.7, 2.9, 1.6]
    yield from line("Figure 2. Highest water of each month.", levels, 3, "metres above the mean")
    yield from text(
        "The gauge at the "
        "north pier has measured the tide every ten minutes since 1931. Only the flood of 1962 was higher "
        "than that of this year, by eleven centimetres. The wind blew from the north-west at thirty-four "
        "metres a second for five hours, and the highest water came with the spring tide, at four in the "
        "morning.",
        "We warned all berths at noon of the day before. Sixty-two boats were moved to the inner basin, and "
        "none of them was lost.",
    )


def repairs():
    """Page 5."""
    yield from title("What broke, and who mended it", "The storm alone cost 410,000 crowns.")
    rows = [["Work", "Cause", "Done", "Crowns"]]
    rows += [["North pier, 40 m of wall", "storm", "March 2026", "365,000"]]
    rows += [["Lamp and fog horn", "storm", "December", "45,000"]]
    rows += [["Gear of the large crane", "wear", "June", "128,000"]]
    rows += [["Slipway, new rails", "rust", "September", "52,500"]]
    rows += [["Clock of the harbour office", "lightning", "August", "3,200"]]
    yield from table("Table 3. Repairs of the year.", rows, (6, 3, 4, 3))
    yield from text(
        "The gear of the large crane was cast anew in Holm and fitted by our own mechanics in eleven days, "
        "while a floating crane unloaded the timber. The clock was repaired by Ada Lindqvist, whose "
        "grandfather had built it.",
        "Divers look at both piers every spring. They found two piles of the south pier hollow; these are "
        "replaced together with the wall.",
    )


def plans():
    """Page 6."""
    yield from title("What we plan", "Quieter, cleaner, and open in the fog.")
    yield from text(
        "From May an electric ferry sails to the islands. It carries a hundred and fifty people and twelve "
        "cars, and is charged at the south pier in the eighteen minutes between two crossings. The "
        "transformer for it is ordered.",
        "A radar at the lamp will let the ferry sail in fog. We count on four of last year's five days.",
        "Seals have come back to the sandbank outside of the harbour: eighty-one were counted in August. "
        "The channel moves two hundred metres to the east, so that nobody disturbs them, and boats keep to "
        "four knots.",
        "The council is asked to grant 240,000 crowns for the charger and the radar. The rest is paid from "
        "our own means.",
    )
    rows = [["Plan", "From", "Crowns"], ["Charger for the ferry", "May 2026", "170,000"]]
    rows += [
        ["Radar at the lamp", "July 2026", "70,000"],
        ["New channel, buoys", "April 2026", "38,000"],
    ]
    yield from table("Table 4. What the plans cost.", rows, (8, 4, 4))


def frame(canvas, document):
    """What every page has: a band at its head, and its number."""
    canvas.setFillColor(NAVY)
    canvas.rect(0, HEIGHT - 1.1 * cm, WIDTH, 1.1 * cm, stroke=0, fill=1)
    canvas.setFillColor(white)
    canvas.setFont("Helvetica", 9)
    canvas.drawString(2.5 * cm, HEIGHT - 0.7 * cm, "Wendmere Harbour")
    canvas.drawRightString(WIDTH - 2.5 * cm, HEIGHT - 0.7 * cm, f"{document.page}")


def main() -> None:
    """Write the file beside this one."""
    path = Path(__file__).with_name("report.pdf")
    document = SimpleDocTemplate(
        str(path),
        pagesize=(WIDTH, HEIGHT),
        leftMargin=2.5 * cm,
        rightMargin=2.5 * cm,
        topMargin=2.2 * cm,
        bottomMargin=1 * cm,
        title="Wendmere Harbour: report for 2025",
        invariant=1,
    )
    story = []
    for page in (summary, traffic, dues, weather, repairs, plans):
        story += [*page(), PageBreak()]
    document.build(story, onFirstPage=frame, onLaterPages=frame)


if __name__ == "__main__":
    main()
