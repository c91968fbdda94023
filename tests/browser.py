"""A real Chromium without a window, for tests and screenshots: Debian's by its path, never one that is downloaded."""

import shutil
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
FLAGS += " --disable-component-update --disable-sync"


@contextmanager
def launch():
    """An open browser."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is on this machine: make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield browser
        browser.close()
