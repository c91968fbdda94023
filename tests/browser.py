"""A real Chromium without a window, for tests and screenshots: the system's own, never one that is downloaded.

As a program, tells by its exit code whether there is one.
"""

import shutil
import sys
from contextlib import contextmanager

from playwright.sync_api import expect, sync_playwright

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
NAMES += ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
FLAGS += " --disable-component-update --disable-sync"

PATIENCE = 300_000  # milliseconds that a page, or the browser itself, may take
expect.set_options(timeout=PATIENCE)


def find():
    """Where Chromium is, None if nowhere."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launch():
    """An open browser."""
    if find() is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is on this machine: make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find(), args=FLAGS.split(), timeout=PATIENCE
        )
        yield browser
        browser.close()


if __name__ == "__main__":
    sys.exit(find() is None)
