"""The process that meets the inputs: python -m fuzz.child TARGET SEED FIRST LAST MEMORY FOLDER.

It writes to a shared file which input it is at, so that the driver knows which one ended it, and prints a line of JSON
for each finding that does not end it.
"""

import json
import mmap
import os
import resource
import struct
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.judge import Finding, judge
from fuzz.target import load_target

PROGRESS = "progress"  # the shared file: the number of the input in work
NUMBER = struct.Struct("<q")
BEFORE_FIRST = -1
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def main() -> None:
    """Take the inputs FIRST to LAST of a target through its door."""
    place, seed, first, last, memory, folder = sys.argv[1:]
    target = load_target(place)
    examples = target.examples()
    reported: set[str] = set()
    with TemporaryDirectory(dir=folder) as scratch, target.session(Path(scratch)) as try_input:
        judge(target, try_input, examples[0])  # whatever is imported late is imported now
        progress = _share(Path(folder) / PROGRESS)
        most = _peak()
        for number in range(int(first), int(last)):
            NUMBER.pack_into(progress, 0, number)
            finding = judge(target, try_input, target.make_input(examples, int(seed), number))
            peak = _peak()
            if peak > most + int(memory):
                finding = too_much_memory(peak - most)
            most = max(most, peak)
            if finding and finding.signature not in reported:
                reported.add(finding.signature)
                _report(number, finding)
        NUMBER.pack_into(progress, 0, int(last))


def too_much_memory(taken: int) -> Finding:
    """The finding that an input took so many bytes."""
    return Finding("memory", "input", f"took {taken:,} bytes")


def _share(path: Path) -> mmap.mmap:
    path.write_bytes(NUMBER.pack(BEFORE_FIRST))
    opened = os.open(path, os.O_RDWR)
    return mmap.mmap(opened, NUMBER.size)


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def _report(number: int, finding: Finding) -> None:
    line = {"number": number, "kind": finding.kind, "where": finding.where, "text": finding.text}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
