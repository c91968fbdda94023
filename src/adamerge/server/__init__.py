"""The web page and the JSON API of a store. Needs the extra `serve`.

routes        every address               settings   every option and limit
middleware/   what every request passes first
web/          pages for people            api/       JSON for programs (neither imports the other)
reader/       the store, read in threads  uploads/   files that people add
folder/       a folder that is served: its store is kept up to date
workers/      the processes that open the files of strangers
"""

from adamerge.server.settings import Limits, Settings

__all__ = ["Limits", "Settings"]
