"""Small PDFs that eat what they are given: memory, or time."""

import zlib


def memory_bomb(size=1 << 30):
    """A page whose content unpacks to a gigabyte of drawing; pressed twice, since once leaves a thousandth.

    After a full flush every block is pressed to the same bytes, so only two of them are pressed.
    """
    pack = zlib.compressobj(9)
    block = b"0 0 m 9 9 l " * 87_382
    first = pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH)
    other = pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH)
    pressed = zlib.compress(first + other * (size // len(block)), 9)
    return _pdf(200, b"/Filter [/FlateDecode /FlateDecode]", pressed)


def time_bomb(fills=50_000):
    """A page of 39 million pixels that is painted over and over with half a colour: an hour of work, little memory."""
    return _pdf(
        3000, b"/Filter /FlateDecode", zlib.compress(b"/G gs " + b"0 0 3000 3000 re f " * fills)
    )


def _pdf(side, about, content):
    """A page of so many points with one stream for its content."""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R" % (side, side)
        + b" /Resources << /ExtGState << /G << /ca 0.5 >> >> >> >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), about, content),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (i + 1, part) for i, part in enumerate(parts))
    return (
        b"%PDF-1.7\n" + body + b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"
    )  # readers make the table themselves
