"""The shape of the code: imports point down, the import is light, names are what they say."""

import ast
import itertools
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import adamerge as am
from adamerge import errors

ROOT = Path(am.__file__).parent
REPOSITORY = Path(__file__).parent.parent
MODULES = [p.relative_to(ROOT) for p in ROOT.rglob("*.py")]
LAYERS = [
    "errors",
    "buckets",
    "files",
    "threads",
    "lazy_names",
    "user_modules",
    "arrays",
    "geometry",
    "kernels",
    "codes",
    "types",
    "compress",
    "vectors",
    "documents",
    "encoders",
    "compression_report",
    "search",
    "fidelities",
    "store",
    "html_file",
    "plans",
    "evaluate",
    "inspector",
    "server",
    "scale",
    "mcp",
    "adapters",
    "cli",
]
LAYERS += ["__main__", "__init__"]


def layer(module: str) -> int:
    return LAYERS.index(module.removesuffix(".py"))


def test_the_documentation_has_the_rooms_in_the_order_of_imports():
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    rooms = page.split("## The rooms")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([\w.]+)/?` \|", rooms, re.MULTILINE)
    assert [name.removesuffix(".py") for name in listed] == LAYERS[:-2]


@pytest.mark.parametrize(
    "room",
    [
        "compress",
        "vectors",
        "encoders",
        "search",
        "fidelities",
        "store",
        "html_file",
        "plans",
        "inspector",
        "mcp",
        "scale",
    ],
)
def test_the_door_of_a_room_lists_its_files(room):
    door = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text()))
    files = [path.name for path in (ROOT / room).glob("*.py") if path.name != "__init__.py"]
    assert [name for name in files if name not in door] == []


def imported(module):
    """The first name below `adamerge` of everything a module imports."""
    for node in ast.walk(ast.parse((ROOT / module).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "adamerge":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("adamerge."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_point_down(module):
    for name in imported(module):
        assert layer(name) <= layer(module.parts[0]), f"{module} imports {name}"


ROOMS_OF_EVALUATE = ["books", "data", "experiment", "analysis", "output"]


@pytest.mark.parametrize("room", ROOMS_OF_EVALUATE)
def test_rooms_of_evaluate_import_those_before_them_by_their_doors(room):
    before = ROOMS_OF_EVALUATE[: ROOMS_OF_EVALUATE.index(room)]
    allowed = {f"adamerge.evaluate.{one}" for one in before}
    for path in (ROOT / "evaluate" / room).glob("*.py"):
        for module in imported_modules(path):
            if module.startswith("adamerge.evaluate"):
                is_own = module.startswith(f"adamerge.evaluate.{room}")
                assert is_own or module in allowed, f"{path.name} imports {module}"


def test_others_import_evaluate_by_its_door_or_that_of_a_room():
    doors = {"adamerge.evaluate", *(f"adamerge.evaluate.{room}" for room in ROOMS_OF_EVALUATE)}
    for module in MODULES:
        if module.parts[0] != "evaluate":
            found = set(imported_modules(ROOT / module))
            inside = {name for name in found if name.startswith("adamerge.evaluate")}
            assert inside <= doors, module
            if module.parts[0] == "cli":
                assert inside <= {"adamerge.evaluate"}, module


def imported_modules(path):
    """The modules that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda path: path.name
)
def test_tests_share_helpers_and_not_each_other(path):
    assert not re.search(r"^\s*(from|import) test_", path.read_text(), re.MULTILINE)


def test_every_public_name_is_there():
    assert sorted(am.__all__) == am.__all__
    assert all(hasattr(am, name) for name in am.__all__)


@pytest.mark.parametrize("package", ["adamerge", "adamerge.store"])
def test_names_that_wait_for_their_module_are_those_that_a_type_checker_sees(package):
    path = ROOT.parent.joinpath(*package.split("."), "__init__.py")
    seen, waiting = {}, {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for found in node.body:
                seen[found.module] = [alias.name for alias in found.names]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names":
            waiting = ast.literal_eval(node.args[1])
    assert seen == waiting != {}
    module = import_module(package)
    for name in itertools.chain.from_iterable(waiting.values()):
        assert name in module.__all__
        assert name in dir(module)
        assert not (path.parent / name).exists(), f"importing {package}.{name} would hide the name"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        getattr(module, "nothing")  # noqa: B009 (the name is not there)


def test_every_error_is_drawn_in_the_tree():
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert name in errors.__doc__
            assert issubclass(kind, errors.AdamergeError)


def test_every_extra_installs_what_some_code_needs():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    source = "".join((ROOT / module).read_text() for module in MODULES)
    of_others = {"all", "demo"}
    named = {extra for extra in project["optional-dependencies"] if f'"{extra}"' in source}
    assert set(project["optional-dependencies"]) - of_others == named - of_others


def python(code):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    return run.stdout.strip()


def test_import_needs_neither_torch_nor_scipy_nor_pyarrow_nor_ray():
    heavy = {
        "torch",
        "scipy",
        "pyarrow",
        "transformers",
        "pandas",
        "rich",
        "PIL",
        "pypdfium2",
        "fastcluster",
        "lance",
        "ray",
        "adamerge.inspector",
    }
    assert python(f"import sys, adamerge; print(sorted({heavy} & set(sys.modules)))") == "[]"


def test_a_cold_command_imports_what_it_needs(tmp_path):
    """Of `adamerge --help`, `info` and `search`: a person waits for them."""
    store = tmp_path / "reports.store"
    with am.open_store(store, encoder={"name": "minilm"}) as opened:
        opened.add(am.compress_pages(am.read_vectors(REPOSITORY / "examples" / "sample"), "height"))
    for words, needless in {
        ("--help",): {"lance", "pyarrow", "rich", "adamerge.vectors", "adamerge.documents"},
        ("info", str(store)): {"rich", "tokenizers", "adamerge.vectors", "adamerge.documents"},
        ("search", str(store), "clock"): {"rich", "adamerge.vectors", "adamerge.plans"},
    }.items():
        code = (
            f"from adamerge.cli import main; import sys; main({list(words)}, standalone_mode=False)"
        )
        printed = python(f"{code}; print(sorted({needless} & set(sys.modules)))")
        assert printed.splitlines()[-1] == "[]", words


def test_compressing_a_torch_tensor_works_where_torch_is_not_imported_by_us():
    code = "import adamerge, sys; assert 'torch' not in sys.modules; import torch; print(len(adamerge.compress("
    assert int(python(code + "torch.randn(30, 8).bfloat16(), torch.rand(30))))")) <= 30


def test_the_slow_twins_can_stand_in_for_the_kernels():
    code = """
import numpy as np, adamerge as am
from adamerge import kernels
rng = np.random.default_rng(0)
small = am.compress(rng.normal(size=(30, 8)), rng.random(30), "adamerge:c_min=0.3")
print(kernels.ward.__module__, small.groups.tolist())
"""
    fast = python(code)
    slow = python("import os; os.environ['ADAMERGE_KERNELS'] = 'reference'\n" + code)
    assert slow.startswith("adamerge.kernels.reference ")
    assert fast.split(" ", 1)[1] == slow.split(" ", 1)[1]


def test_tables_need_neither_torch_nor_compiled_kernels():
    code = """
import os, sys
os.environ["ADAMERGE_KERNELS"] = "reference"
sys.modules |= {"torch": None, "mteb": None, "ir_measures": None, "pyarrow": None, "adamerge.kernels._native": None}
from adamerge.cli import main
main(["evaluate", "table", "ablation", "results/books"], standalone_mode=False)
"""
    assert python(code).startswith("**The two parts of AdaMerge.**")


def test_pages_and_api_of_the_server_are_siblings():
    for part, other in (("web", "api"), ("api", "web")):
        code = "".join(path.read_text() for path in (ROOT / "server" / part).glob("*.py"))
        assert "adamerge.server" in code
        assert f"adamerge.server.{other}" not in code


def test_a_worker_process_loads_no_web_framework():
    web = {"starlette", "uvicorn", "jinja2", "adamerge.server.web", "adamerge.server.api"}
    code = "import sys, adamerge.server.workers.worker_process"
    assert python(f"{code}; print(sorted({web} & set(sys.modules)))") == "[]"
