"""A target with every fault that a campaign must notice; the first letter of an input chooses."""

import os
import signal
import time
from contextlib import contextmanager

from adamerge.errors import BadInput
from fuzz.target import Target

KEPT = []


class Broken(Target):
    """Its corpus is here."""

    def examples(self):
        return [b"fine", b"raw", b"refused", b"two lines", b"crash", b"hang", b"memory", b"fine"]


def try_input(data):
    match data:
        case b"raw":
            raise KeyError("raw")
        case b"refused":
            raise BadInput("this is refused as it should be")
        case b"two lines":
            raise Unprintable("two\nlines")
        case b"crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case b"hang":
            while True:
                time.sleep(1)
        case b"memory":
            KEPT.append(bytearray(os.urandom(1)) * (256 << 20))


class Unprintable(BadInput):
    """An error whose message is not one line."""

    def __str__(self):
        return str(self.args[0])


@contextmanager
def session(folder):
    yield try_input


TARGET = Broken("faulty", session, lambda random, examples: b"fine")
