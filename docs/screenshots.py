"""Makes the pictures of these docs from the real thing: make screenshots (needs Chromium and the extra `local`)."""

import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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


def inspect(html: str, browser) -> Image.Image:
    """The page as a person sees it, with a group in focus."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1360, "height": 1180}, device_scale_factor=1.5)
        page.goto(file.as_uri())
        page.locator("#group-2").dispatch_event(
            "pointerover"
        )  # its middle may lie in another group
        return Image.open(BytesIO(page.screenshot()))


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of the report."""
    adamerge = Path(sys.executable).with_name("adamerge")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "reports.store")
        files = [DOCS.parent / "examples" / "report.pdf"]
        subprocess.run([adamerge, "index", *files, "--store", store], check=True)
        server = subprocess.Popen(
            [adamerge, "serve", store, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()
            server.wait()


def visit(url: str, browser, height: int) -> Image.Image:
    """A page of the server as a person sees it."""
    page = browser.new_page(viewport={"width": 1360, "height": height}, device_scale_factor=1.5)
    page.goto(url, wait_until="networkidle")
    return Image.open(BytesIO(page.screenshot()))


def save(picture: Image.Image, path: Path) -> None:
    """A picture that is small enough to be sent around."""
    picture.save(path, "WEBP", quality=72, method=6)
    print(f"{path}  {path.stat().st_size:,} bytes")
    if path.stat().st_size > LIMIT:
        raise SystemExit(f"{path} is larger than {LIMIT:,} bytes")


if __name__ == "__main__":
    launch = runpy.run_path(str(DOCS.parent / "tests" / "browser.py"))["launch"]
    with launch() as browser:
        save(inspect(sample(am.load_encoder("minilm")), browser), DOCS / "inspect.webp")
        with served() as url:
            save(
                visit(f"{url}/?q=which+month+had+the+most+vessels", browser, 640),
                DOCS / "search.webp",
            )
            save(
                visit(f"{url}/page/report.pdf%235?q=what+did+the+storm+cost", browser, 860),
                DOCS / "serve.webp",
            )
