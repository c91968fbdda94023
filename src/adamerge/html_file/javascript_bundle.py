"""JavaScript modules -> one script, so that a page needs no other file.

Each module becomes a function that runs once and returns what the module exports. An import takes names out of that:

    import { cliff } from "./cut.js";      const { cliff } = modules["cut.js"];
    export function cliff() {}             function cliff() {}   ...   return { cliff };

All other names of a module stay its own. The bundle understands these forms, each at the start of a line:

    import { a, b } from "./file.js";
    import "./file.js";
    export function a   export const a   export class A
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from adamerge.errors import BadFile

IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.{1,2}/[^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
NOT_UNDERSTOOD = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """One file of JavaScript."""

    file: Path
    code: str

    @property
    def imports(self) -> list[tuple[Path, list[str]]]:
        """The files that it imports, and the names that it takes of each."""
        found = []
        for names, where in IMPORT.findall(self.code):
            found.append((self._file_at(where), re.findall(r"\w+", names)))
        return found

    @property
    def exports(self) -> list[str]:
        """The names that it exports."""
        return EXPORT.findall(self.code)

    def as_function(self, root: Path) -> str:
        """The module as a function that is called at once and returns the exports."""

        def take_names(statement: re.Match[str]) -> str:
            names, where = statement.groups()
            if names is None:
                return ""
            return f'const {{{names}}} = modules["{_key(self._file_at(where), root)}"];'

        body = EXPORT.sub("", IMPORT.sub(take_names, self.code))
        other = NOT_UNDERSTOOD.search(body)
        if other:
            raise BadFile(f"{self.file.name}: the bundle does not understand `{other[0]}`")
        exports = ", ".join(self.exports)
        return (
            f'modules["{_key(self.file, root)}"] = (() => {{\n{body}return {{ {exports} }};\n}})();'
        )

    def _file_at(self, where: str) -> Path:
        return (self.file.parent / where).resolve()


def bundle(main: Path) -> str:
    """The module `main` and all that it imports, as one script."""
    modules: dict[Path, Module] = {}
    _read(main.resolve(), modules, ())
    root = Path(os.path.commonpath([file.parent for file in modules]))
    parts = ["const modules = {};"]
    for module in modules.values():
        _check_imports(module, modules)
        parts.append(module.as_function(root))
    return "\n".join(parts)


def _read(file: Path, modules: dict[Path, Module], waiting: tuple[Path, ...]) -> None:
    """Add a file to `modules` after the files that it imports; `waiting` are those that import it."""
    if file in waiting:
        raise BadFile(f"{file.name} imports itself through {waiting[-1].name}")
    if file in modules:
        return
    module = Module(file, file.read_text(encoding="utf-8"))
    for imported, _ in module.imports:
        _read(imported, modules, (*waiting, file))
    modules[file] = module


def _check_imports(module: Module, modules: dict[Path, Module]) -> None:
    for file, names in module.imports:
        for name in names:
            if name not in modules[file].exports:
                raise BadFile(
                    f"{module.file.name} imports {name}, which {file.name} does not export"
                )


def _key(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix()
