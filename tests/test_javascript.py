"""The JavaScript: modules that are bundled into one script, and a linter that refuses what is not defined."""

import subprocess
import sys
from pathlib import Path

import pytest

import adamerge as am
from adamerge.errors import BadFile
from adamerge.html_file.javascript_bundle import bundle

ROOT = Path(__file__).parent.parent
PACKAGE = Path(am.__file__).parent


def module(folder, name, code):
    path = folder / name
    path.write_text(code)
    return path


@pytest.mark.parametrize("room", ["inspector", "plans"])
def test_every_module_of_a_room_and_of_what_is_shared_is_in_its_script(room):
    script = bundle(PACKAGE / room / "web" / "main.js")
    own = list((PACKAGE / room / "web").rglob("*.js"))
    shared = list((PACKAGE / "html_file" / "web").rglob("*.js"))
    assert len(own) > 4
    for path in own + shared:
        name = path.relative_to(PACKAGE).as_posix()
        assert script.count(f'modules["{name}"] = ') == 1


def test_a_module_stands_after_those_that_it_imports_and_keeps_its_other_names(tmp_path):
    module(tmp_path, "low.js", "const secret = 1;\nexport const low = 2;\n")
    module(tmp_path, "high.js", 'import { low } from "./low.js";\nexport function high() {}\n')
    main = module(
        tmp_path,
        "main.js",
        'import {\n  high,\n} from "./high.js";\nimport { low } from "./low.js";\nhigh(low);\n',
    )
    script = bundle(main)
    places = [script.index(f'modules["{name}.js"] =') for name in ("low", "high", "main")]
    assert places == sorted(places)
    assert "return { low };" in script
    assert "import" not in script
    assert "export" not in script


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('import { gone } from "./low.js";', r"main.js imports gone, which low.js does not export"),
        ('import low from "./low.js";', "does not understand `import low from"),
        ('import { low } from "https://example.org/low.js";', "does not understand `import"),
        ("export default 3;", "does not understand `export default 3;`"),
        ('import "./main.js";', "main.js imports itself through main.js"),
    ],
)
def test_what_the_bundle_does_not_understand_is_refused(tmp_path, code, words):
    module(tmp_path, "low.js", "export const low = 2;\n")
    main = module(tmp_path, "main.js", f"{code}\n")
    with pytest.raises(BadFile, match=words):
        bundle(main)


def lint(file):
    oxlint = Path(sys.executable).with_name("oxlint")
    command = [oxlint, "-c", ROOT / ".oxlintrc.json", "--deny-warnings", file]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


GOOD = 'import { low } from "./low.js";\n\nexport function twice() {\n  return 2 * low;\n}\n'


def test_the_linter_passes_a_module_that_imports_what_it_uses(tmp_path):
    module(tmp_path, "low.js", "export const low = 2;\n")
    run = lint(module(tmp_path, "main.js", GOOD))
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("was", "is_now", "rule"),
    [
        ("2 * low", "2 * high", "no-undef"),
        ("2 * low", "2 * name * low", "no-restricted-globals"),
        ("2 * low", "2", "no-unused-vars"),
        ("2 * low", "low ? (low > 1 ? 2 : 3) : 4", "no-nested-ternary"),
        ("import { low }", "import { twin as low }", "import(named)"),
    ],
)
def test_the_linter_refuses(tmp_path, was, is_now, rule):
    module(tmp_path, "low.js", "export const low = 2;\n")
    assert was in GOOD
    run = lint(module(tmp_path, "main.js", GOOD.replace(was, is_now)))
    assert run.returncode == 1
    assert rule in run.stdout


def test_the_linter_refuses_a_plain_script_that_makes_globals(tmp_path):
    run = lint(module(tmp_path, "theme.js", "const root = document.body;\nroot.remove();\n"))
    assert run.returncode == 1
    assert "no-implicit-globals" in run.stdout
