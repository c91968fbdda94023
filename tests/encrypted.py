"""An encrypted PDF file, and the password that opens it."""

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

SECRET = "correct-horse"


def write_encrypted_pdf(path, pages):
    """Write a PDF of some pages of words; its folder is made if it is not there."""
    path.parent.mkdir(exist_ok=True)
    canvas = Canvas(str(path), encrypt=StandardEncryption(SECRET))
    for words in pages:
        canvas.drawString(30, 400, words)
        canvas.showPage()
    canvas.save()
    return path
