"""An encoder whose process ends at a page with the word KILL, as at a file that makes a library crash."""

import os
import signal

from light import Light


class Deadly(Light):
    def encode_pages(self, pages):
        for page in pages:
            if any(word.text == "KILL" for word in page.words):
                os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_pages(pages)
