"""Random failures of every command, as many as one likes: `make chaos ROUNDS=500 SEED=1`.

Each round takes a command, a kind of fault and a call of that command by chance, and checks what test_faults.py does.
What is wrong is printed as it is found; the exit code says whether there was anything.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from fault_checks import calls_to_disturb, disturb
from fault_commands import COMMANDS, make_inputs
from faults import KINDS, Fault, Faults, missing, running


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    given = parser.parse_args()
    if missing():
        sys.exit(f"chaos: {missing()}")
    say(f"{given.rounds} rounds, seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder:
        wrong = play(Path(folder), given.rounds, random.Random(given.seed))
    say(f"{given.rounds} rounds, seed {given.seed}: {wrong} wrong")
    sys.exit(bool(wrong))


def play(folder, rounds, chance):
    """How much went wrong in some rounds."""
    inputs = folder / "inputs"
    inputs.mkdir()
    wrong = 0
    with running(Faults(folder), folder) as runner:
        make_inputs(runner, inputs)
        undisturbed = {name: run_undisturbed(runner, name, folder, inputs) for name in COMMANDS}
        for number in range(1, rounds + 1):
            name = chance.choice(list(COMMANDS))
            whole, calls = undisturbed[name]
            kind = chance.choice(list(KINDS))
            fault = Fault(kind, chance.choice(calls_to_disturb(calls, kind)))
            lines = disturb(runner, COMMANDS[name], inputs, folder / "work", fault, whole, set())
            for line in lines:
                say(line)
            wrong += bool(lines)
            if number % 50 == 0:
                say(f"{number} rounds")
    return wrong


def run_undisturbed(runner, name, folder, inputs):
    """The parts that a command makes, and its calls."""
    command, work = COMMANDS[name], folder / f"undisturbed {name}"
    work.mkdir()
    command.before(work, inputs)
    run = runner.run(command.words(inputs, work), work)
    assert run.code == 0, run.err
    return command.parts(work), run.calls


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
