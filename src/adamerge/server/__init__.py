"""The web page and the JSON API of a store. Needs the extra `serve`.

web/      pages for people            api/   JSON for programs (siblings: neither imports the other)
workers/  uploads, and the processes that read strangers' files
"""

from adamerge.server.settings import Limits, Settings

__all__ = ["Limits", "Settings"]
