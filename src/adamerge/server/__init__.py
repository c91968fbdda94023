"""The web page of a store: search it, see why a page was found, add files. Needs the extra `serve`."""

from adamerge.server.settings import Settings

__all__ = ["Settings"]
