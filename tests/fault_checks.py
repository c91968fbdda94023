"""What has to be true of a command that is disturbed, and of the same command after that.

Nothing that was there or is said to be done is lost, nothing is half there, nothing is left behind, and the same
command ends as an undisturbed run.
"""

import shutil
from collections import Counter

from faults import kind_of_path

MAY_LEAVE = ("kill", "disk lost")  # faults after which nobody can tidy up before the next run
OF_WRITES = ("short write",)  # faults that only a write can have
EXIT_CODES = (1, 75)  # of an error in words, and of one that may not come again


def calls_to_disturb(calls, kind):
    """The numbers of the calls at which a fault of a kind can happen.

    A process that is killed after a sync leaves what it leaves when it is killed before: one of the two is tried.
    """
    numbers = []
    before = None
    for number, call in enumerate(calls, 1):
        is_possible = call.name == "write" or kind not in OF_WRITES
        is_repeated = kind == "kill" and before is not None and before.name == "sync"
        if is_possible and not is_repeated:
            numbers.append(number)
        before = call
    return numbers


def one_of_each_place(calls, numbers):
    """Those of some numbers at which a call of a kind meets a file of a kind for the first time."""
    first = {}
    for number in numbers:
        first.setdefault(calls[number - 1].place(), number)
    return sorted(first.values())


def disturb(runner, command, inputs, work, fault, whole, finished):
    """What is wrong after a command met a fault, and after it ran again; a line each.

    whole     the parts that an undisturbed run makes
    finished  states after a fault from which the same command has finished: from an equal one it does not run again
    """
    words = command.words(inputs, work)
    work.mkdir()
    try:
        command.before(work, inputs)
        before = command.parts(work)
        run = runner.run(words, work, fault)
        wrong = wrong_end(run, fault) + wrong_parts(command, work, run, before, whole)
        if fault.kind not in MAY_LEAVE:
            wrong += [f"{name} was left" for name in command.left_overs(work)]
        state = state_of(command, work)
        if state not in finished:
            wrong += wrong_after_all(command, work, runner.run(words, work), whole)
        if not wrong:
            finished.add(state)
    finally:
        shutil.rmtree(work)
    at = run.calls[fault.number - 1] if fault.number <= len(run.calls) else "no call"
    return [f"{command.name}, {fault} ({at}): {line}" for line in wrong]


def state_of(command, work):
    """What a command finds: the parts that a reader finds, and every file or folder by its kind and size."""
    parts = frozenset((name, repr(part)) for name, part in command.parts(work).items())
    files = Counter()
    for path in work.rglob("*"):
        size = path.stat().st_size if path.is_file() else None
        files[kind_of_path(path.relative_to(work).as_posix()), size] += 1
    return parts, frozenset(files.items())


def wrong_end(run, fault):
    """It was killed, succeeded all the same, or said in one line why not."""
    killed = run.code == -9 and fault.kind == "kill"
    one_line = run.err.startswith("adamerge: ") and run.err.count("\n") == 1
    if run.code == 0 or killed or (run.code in EXIT_CODES and one_line):
        return []
    return [f"it ended with {run.code} and said {run.err!r}"]


def wrong_parts(command, work, run, before, whole):
    """Each part is as it was before or as an undisturbed run makes it; what is said to be done is done."""
    there = command.parts(work)
    done = whole.keys() | before.keys() if run.code == 0 else command.done(run.out)
    wrong = []
    for name in sorted(there.keys() | whole.keys() | before.keys()):
        now, old, new = (parts.get(name) for parts in (there, before, whole))
        if name in done and now != new:
            wrong.append(f"{name} was said to be done, and is not")
        elif now not in (old, new):
            wrong.append(f"{name} is lost" if now is None else f"{name} is half there")
    if command.at_once and there not in (before, whole):
        wrong.append(f"only {sorted(there)} is there")
    return wrong


def wrong_after_all(command, work, run, whole):
    """It finished, and all is as after an undisturbed run; what it refuses to write again it cannot tidy up either."""
    wrong = []
    was_done = bool(command.says_done) and command.says_done in run.err
    if run.code != 0 and not was_done:
        wrong.append(f"the same command ended with {run.code} and said {run.err!r}")
    if not was_done:
        wrong += [f"the same command left {name}" for name in command.left_overs(work)]
    there = command.parts(work)
    different = [n for n in there.keys() | whole.keys() if there.get(n) != whole.get(n)]
    wrong += [f"{name} is different after the same command" for name in sorted(different)]
    return wrong
