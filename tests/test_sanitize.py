"""`make sanitize` runs the kernel tests in a small environment: they load with what its group of packages brings."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent

# Collects tests while every package is refused that the environment would not have.
COLLECT = """
import sys
from importlib.metadata import packages_distributions

import pytest

installed, files = set(sys.argv[1].split(",")), sys.argv[2:]


def is_installed(distributions):
    return any(name.lower().replace("_", "-") in installed for name in distributions)


for package, distributions in packages_distributions().items():
    if not is_installed(distributions):
        sys.modules[package] = None  # importing it raises ModuleNotFoundError
sys.exit(pytest.main(["--collect-only", "-q", *files]))
"""


def with_requirements(names):
    """Some distributions, and all that they require here."""
    found, waiting = set(), list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        for text in requires(name) or []:
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
    return found


def kernel_tests():
    makefile = (ROOT / "Makefile").read_text()
    names = re.search(r"KERNEL_TESTS := \$\(addprefix tests/test_,(.+)\)", makefile)[1]
    return [f"tests/test_{name}" for name in names.split()]


def test_the_kernel_tests_need_only_what_make_sanitize_installs():
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["sanitize"]
    named = [Requirement(text).name for text in group]
    installed = with_requirements(["adamerge", *named])
    assert "psutil" not in installed  # one that the other tests have, so something is refused below

    command = [sys.executable, "-c", COLLECT, ",".join(sorted(installed)), *kernel_tests()]
    collected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert collected.returncode == 0, collected.stdout + collected.stderr
    assert "tests/test_link.py" in collected.stdout
