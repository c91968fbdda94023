"""Random kills on a Ray cluster, as many as one likes: `make chaos-cluster ROUNDS=20 SEED=1`.

Each round takes a command, what is killed and the moment by chance. The run then finishes, or ends in words; the same
command again finishes it. At the end there has to be what one machine makes: nothing lost, doubled or left over. What
is wrong is printed as it is found; the exit code says whether there was anything.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from chaos import say
from cli import QUIET
from conftest import random_page
from light import write_pdf
from processes import ended, start
from ray_cluster import HERE, Gate, contents, in_small_units
from ray_faults import RAYLET, SIZE, kill, process_id, started_cluster
from store_pages import left_overs, pages_of
from vector_pages import write_in_shards
from waiting import LONG, until

import adamerge as am

COMMANDS = ("compress", "encode", "index")  # tasks; actors; actors that write to a store
VICTIMS = ("worker", "driver", "raylet of the head", "raylet of the other node")
MOMENTS = ("start", "work", "output")
LONGEST_START = 3.0  # seconds: within them a driver connects and its workers start


def environment():
    """That of a command; a cluster that asks for a token, as Ray has it by default, has entered that here."""
    return os.environ | QUIET | {"PYTHONPATH": str(HERE)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    given = parser.parse_args()
    say(f"{given.rounds} rounds, seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        wrong = play(Path(folder), given.rounds, random.Random(given.seed), stack)
    say(f"{given.rounds} rounds, seed {given.seed}: {wrong} wrong")
    sys.exit(bool(wrong))


def play(folder, rounds, chance, stack):
    """How much went wrong in some rounds."""
    inputs = Inputs(folder)
    cluster = ChaosCluster(stack)
    wrong = 0
    for number in range(1, rounds + 1):
        chosen = (chance.choice(COMMANDS), chance.choice(VICTIMS), chance.choice(MOMENTS))
        of_round = random.Random(chance.random())
        work = folder / f"round {number}"
        lines = disturb(Round(inputs, cluster, work, *chosen), of_round)
        say(f"{number}: {', '.join(chosen)}: {'; '.join(lines) or 'well'}")
        wrong += bool(lines)
        shutil.rmtree(work)
        cluster.mend()
    return wrong


class Inputs:
    """What the commands read, and what one machine makes of it."""

    def __init__(self, folder):
        self.gate = Gate(folder / "gate")
        pages = (random_page(24, id=f"p{i}") for i in range(20))
        self.vectors = write_in_shards(folder / "vectors", pages, 3)
        self.docs = folder / "docs"
        write_pdf(self.docs / "a.pdf", [f"{i} apples and a pear" for i in range(7)])
        write_pdf(self.docs / "b.pdf", ["the clock is late"])
        write_pdf(self.docs / "sub" / "c.pdf", [f"wheel {i} turns" for i in range(4)])
        self.whole = {}
        self.gate.open()
        for name in COMMANDS:
            out = folder / f"undisturbed {name}"
            made = subprocess.run(self.command(name, out), env=environment(), capture_output=True)
            assert made.returncode == 0, made.stderr
            self.whole[name] = parts(name, out)
        self.gate.close()

    def command(self, name, out, *more):
        """A command of the three, in small units."""
        as_asked = ["--method", self.gate.method, "--module", self.gate.module, *more]
        if name == "compress":
            words = ["compress", self.vectors, "-o", out, *as_asked]
        elif name == "encode":
            words = ["encode", self.docs, "-o", out, "--encoder", "light:Light", *as_asked]
        else:
            words = ["index", self.docs, "--store", out, "--encoder", "light:Light", *as_asked]
        return list(map(str, in_small_units(*words)))


def parts(name, out):
    """What a reader finds in the output of a command."""
    if name != "index":
        return contents(out)
    with am.open_store(out) as store:
        return pages_of(store)


class ChaosCluster:
    """A cluster of two nodes that is whole again after each round."""

    def __init__(self, stack):
        self._stack = stack
        self._begin()

    def _begin(self):
        self.nodes = self._stack.enter_context(started_cluster(2))
        self.other = self.nodes.list_all_nodes()[1]

    def raylet(self, victim):
        node = self.nodes.head_node if victim == "raylet of the head" else self.other
        return process_id(node, RAYLET)

    def mend(self):
        """Put a node or a cluster in the place of one that was lost."""
        if not is_alive(self.nodes.head_node):
            self._stack.close()
            self._begin()
        elif not is_alive(self.other):
            self.nodes.remove_node(self.other, allow_graceful=False)
            self.other = self.nodes.add_node(**SIZE)


def is_alive(node):
    return node.all_processes[RAYLET][0].process.poll() is None


class Round:
    """One command that is disturbed once."""

    def __init__(self, inputs, cluster, work, name, victim, moment):
        work.mkdir()
        self.inputs, self.cluster, self.gate = inputs, cluster, inputs.gate
        self.name, self.victim, self.moment = name, victim, moment
        self.out = work / "out"

    def start(self):
        command = self.inputs.command(self.name, self.out, "--ray", self.cluster.nodes.address)
        return start(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def outputs(self):
        """The units that are done."""
        pattern = ".job-*/unit-*.json" if self.name == "index" else "shard-*.safetensors"
        return list(self.out.glob(pattern))

    def wait_for_moment(self, driver, chance):
        """Wait until the driver is as far as it has to be; a run that ended before is not disturbed."""
        if self.moment == "start" and self.victim != "worker":
            time.sleep(chance.uniform(0, LONGEST_START))
            return
        self.gate.wait_for_workers(process=driver)
        if self.moment == "output":
            wanted = chance.randint(1, 3)
            self.gate.open()
            until(
                lambda: len(self.outputs()) >= wanted or driver.poll() is not None, "some outputs"
            )

    def kill(self, driver, chance):
        if self.victim == "driver":
            driver.kill()
        elif self.victim == "worker":
            kill(chance.choice(self.gate.workers()))
        else:
            kill(self.cluster.raylet(self.victim))


def disturb(round, chance):
    """Run a command, kill, run it again; what is wrong, in words."""
    driver = round.start()
    with ended(driver):
        round.wait_for_moment(driver, chance)
        round.kill(driver, chance)
        round.gate.open()
        _, err = driver.communicate(timeout=LONG)
    wrong = []
    if driver.returncode and round.victim != "driver" and "adamerge: " not in err:
        wrong.append(f"the run ended with {driver.returncode} and without words: {err!r}")
    round.cluster.mend()

    again = round.start()
    with ended(again):
        _, err = again.communicate(timeout=LONG)
    if again.returncode:
        wrong.append(f"the same command again ended with {again.returncode}: {err!r}")
    elif parts(round.name, round.out) != round.inputs.whole[round.name]:
        wrong.append("there is not what one machine makes")
    if round.name == "index" and left_overs(round.out):
        wrong.append(f"left over: {left_overs(round.out)}")
    round.gate.close()
    return wrong


if __name__ == "__main__":
    main()
