"""Makes the pictures of these docs from the real thing: make screenshots (needs Chromium and the extra `local`)."""

import runpy
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

import adamerge as am
from adamerge.inspector import Query

DOCS = Path(__file__).parent
LIMIT = 200_000  # bytes of a picture
QUERIES = ["where is the tree cut?", "a budget for each collection"]


def sample(encoder) -> str:
    """The third page of the sample, inspected, as HTML."""
    page = list(am.read_pages([DOCS.parent / "examples" / "sample.pdf"]))[2]
    asked = map(Query, QUERIES, encoder.encode_queries(QUERIES), encoder.query_tokens(QUERIES))
    return am.inspect(encoder.encode_pages([page])[0], "adamerge", page, asked).html


def shoot(html: str, path: Path) -> None:
    """The page as a person sees it, with a group in focus."""
    launch = runpy.run_path(str(DOCS.parent / "tests" / "browser.py"))["launch"]
    with tempfile.TemporaryDirectory() as folder, launch() as browser:
        file = Path(folder, "page.html")
        file.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1360, "height": 1180}, device_scale_factor=1.5)
        page.goto(file.as_uri())
        page.locator("#group-2").dispatch_event("pointerover")  # its middle may lie in another group
        picture = Image.open(BytesIO(page.screenshot()))
    picture.save(path, "WEBP", quality=82, method=6)
    print(f"{path}  {path.stat().st_size:,} bytes")
    if path.stat().st_size > LIMIT:
        raise SystemExit(f"{path} is larger than {LIMIT:,} bytes")


if __name__ == "__main__":
    shoot(sample(am.load_encoder("minilm")), DOCS / "inspect.webp")
