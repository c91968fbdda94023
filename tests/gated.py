"""An encoder that encodes a page only when it is let: for tests of what is seen while a run goes on."""

import os
from pathlib import Path

from light import Light
from waiting import until

PLACE = "ADAMERGE_GATE"  # the variable that names the folder of permits


class Gated(Light):
    """Encodes its page number i once the folder of permits holds a file called i."""

    def __init__(self, name="gated:Gated"):
        super().__init__(name)
        self.pages = 0

    def encode_pages(self, pages):
        for _ in pages:
            self.pages += 1
            permit = Path(os.environ[PLACE]) / str(self.pages)
            until(permit.exists, f"no permit for page {self.pages}")
        return super().encode_pages(pages)
