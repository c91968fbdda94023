"""Names of a package that import their module when they are asked for, so that a command pays only for what it uses."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package takes as its `__getattr__` and `__dir__`: `modules` has the names that come from each module.

    A name must not be that of a module of the package. Python would put the module in its place when somebody
    imports that.
    """
    module_of = {}
    for module, names in modules.items():
        for name in names:
            module_of[name] = module
    known = vars(import_module(package))

    def get(name: str) -> Any:
        """The value of a name; it is kept, so that the next one to ask gets it at once."""
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(module_of[name]), name)
        known[name] = value
        return value

    def list_names() -> list[str]:
        """All names, those that nobody has asked for too."""
        return sorted({*known, *module_of})

    return get, list_names
