"""Libraries that take seconds to import, imported where a test first uses them.

Every process of a parallel run collects all tests and runs some. The tests that need torch, or a library on top of it,
are one group, so that one process imports it; and so are the tests of Qdrant.
"""

from importlib import import_module

import pytest

needs_torch = pytest.mark.xdist_group("torch")
needs_qdrant = pytest.mark.xdist_group("qdrant")


class Later:
    """A module, imported when one of its names is first asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # pytest asks every object of a file whether it is a test
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


torch = Later("torch")
safetensors_torch = Later("safetensors.torch")
