"""Python files of a user: run once, so that their methods, measures and file formats are known from then on."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from adamerge.errors import BadFile


def import_user_module(path: Path) -> None:
    """Run a Python file; a file that was run before is not run again."""
    name = str(path.resolve())  # no name that another module could have
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise BadFile(f"{path} is no file of Python: a module is a file, such as methods.py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise BadFile(f"{path} cannot be imported ({error!r}): --debug shows where") from error
