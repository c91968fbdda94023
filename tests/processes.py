"""Child processes that a test stops: they start with the signals of a shell in front of a person."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import psutil
from waiting import LONG

# A job that was started by `&` or `nohup` ignores signals, and so do its children. This lets them work again and
# becomes the command: Popen's preexec_fn would fork a process of many threads.
DEFAULTS = """
import os, signal, sys
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(one, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def start(command, **more):
    """A process of a command, whose signals do what they do by default."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", DEFAULTS, *map(str, command)], **more
    )


def start_python(*words, **more):
    """A Python process with some arguments."""
    return start([sys.executable, *words], **more)


def end(process):
    """End a process, whatever it does, and close what was read from it."""
    process.kill()
    process.wait(LONG)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@contextmanager
def ended(*processes):
    """No process outlives the block."""
    try:
        yield
    finally:
        for process in processes:
            end(process)


def children(process):
    """The numbers of the processes that one has started, oldest first."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True
    )
    return sorted(map(int, listed.stdout.split()))


def has_ended(pid):
    """Whether a process is gone, or dead and waits to be noticed: in a container often nobody notices."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def stopped(pid):
    """A process that does nothing for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def child_processes():
    """The processes that this one has started and that run."""
    return set(psutil.Process().children())


def end_with_children(processes):
    """End processes, and all that they have started."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            for child in process.children(recursive=True):
                child.kill()
            process.kill()
    psutil.wait_procs(processes)
