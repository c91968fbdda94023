"""A colour for each word of a query."""

FIRST_HUE = 222.0  # blue
GOLDEN_ANGLE = 137.508  # degrees: each hue is far from those before it, and none comes twice
LIGHTNESS = (44, 36, 52)  # percent; neighbours on the circle of hues differ in it too


def word_colour(i: int) -> str:
    """The colour of word i of a query, for CSS; every word has its own."""
    hue = (FIRST_HUE + i * GOLDEN_ANGLE) % 360
    return f"hsl({hue:.1f} 75% {LIGHTNESS[i % len(LIGHTNESS)]}%)"
