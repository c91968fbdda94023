"""python -m fuzz [--seconds S | --inputs N] [--seed N] [TARGET [FILE]]: a campaign, or one input again."""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.driver import ROOT, Limits, Tally, run_target, save_findings
from fuzz.judge import judge
from fuzz.target import load_target
from fuzz.targets import TARGETS

OUT = ROOT / "build" / "fuzz"


def main() -> int:
    """Run what the command line asks for; 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "target", nargs="?", choices=TARGETS, help="one target; all of them if none is given"
    )
    parser.add_argument("file", nargs="?", type=Path, help="an input to try again")
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--inputs", type=int, help="for each target, whatever time it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    if given.file:
        return replay(given.target, given.file)
    names = [given.target] if given.target else list(TARGETS)
    return campaign(names, given.seconds, given.inputs, given.seed, given.processes)


def campaign(
    names: list[str], seconds: float, inputs: int | None, seed: int, processes: int
) -> int:
    """Run targets, so many at once; print what came of each, and 1 if anything was found."""
    places = [TARGETS[name] for name in names]
    shares = [load_target(place).share for place in places]
    each = [
        Limits(inputs=inputs)
        if inputs
        else Limits(seconds=processes * seconds * share / sum(shares))
        for share in shares
    ]

    def run(place: str, limits: Limits) -> Tally:
        tally = run_target(place, seed, limits)
        save_findings(tally, OUT / tally.target.name)
        print(tally, flush=True)
        return tally

    with ThreadPoolExecutor(processes) as pool:
        tallies = list(pool.map(run, places, each))
    print(f"{sum(tally.inputs for tally in tallies):,} inputs")
    found = [(tally, *entry) for tally in tallies for entry in tally.findings.items()]
    for tally, signature, (_, finding) in found:
        print(f"{finding.kind}: {finding.where}: {OUT / tally.target.name / signature}.input")
    return 1 if found else 0


def replay(name: str, file: Path) -> int:
    """Try one input again, in this process."""
    target = load_target(TARGETS[name])
    with TemporaryDirectory() as folder, target.session(Path(folder)) as try_input:
        finding = judge(target, try_input, file.read_bytes())
    print(f"{finding.kind}: {finding.where}\n{finding.text}" if finding else "no finding")
    return 1 if finding else 0


if __name__ == "__main__":
    sys.exit(main())
