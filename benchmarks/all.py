"""Runs every benchmark, also after one that missed a budget, and says at the end what was missed.

python benchmarks/all.py            about twelve minutes on a quiet machine
python benchmarks/all.py --quick    a smoke run
"""

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "run.py",
    "attention.py",
    "minilm.py",
    "maxsim.py",
    "million.py",
    "laptop.py",
    "scale.py",
    "speeds.py",
)
ONE_THREAD = {"minilm.py": {"OPENBLAS_NUM_THREADS": "1"}}  # of NumPy, which it is compared with
TAKE_QUICK = ("run.py", "maxsim.py", "million.py", "laptop.py", "scale.py", "speeds.py")


def main() -> None:
    """Run them one after the other; exit 1 if one failed or missed a budget."""
    quick = sys.argv[1:] == ["--quick"]
    problems = []
    for script in SCRIPTS:
        print(f"\n# {script}\n", flush=True)
        words = ["--quick"] if quick and script in TAKE_QUICK else []
        problems += run(script, words)
    if problems:
        sys.exit("\n".join(["", *problems]))


def run(script: str, words: list[str]) -> list[str]:
    """Run a benchmark, show what it prints, and return the lines that say MISSED, or that it failed."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *words]
    environment = os.environ | ONE_THREAD.get(script, {})
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    missed = []
    for line in process.stdout:
        print(line, end="", flush=True)
        if "MISSED" in line:
            missed.append(f"{script}: {line.strip()}")
    if process.wait() and not missed:
        return [f"{script}: failed"]
    return missed


if __name__ == "__main__":
    main()
