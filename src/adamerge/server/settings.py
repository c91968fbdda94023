"""How a server runs, checked before anything is opened."""

import hmac
import sys
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname

from adamerge.errors import BadInput

MIN_TOKEN = 16  # characters of a token that guards a server others can reach
WORKER = (sys.executable, "-m", "adamerge.server.workers.worker_process")


@dataclass(frozen=True)
class Limits:
    """Every limit of time, memory and number that a server keeps.

    header_seconds    that the headers of a request may take to arrive
    search_seconds    that a search may take, from its request to its answer
    waiting_searches  searches that may wait for others; more are refused
    silent_seconds    that a worker may be silent
    file_seconds      that one file may take in a worker
    worker_memory     bytes that a worker may take above what its encoder needs
    waiting_files     uploads that may wait to be indexed
    failed_files      uploads that failed and are kept to be fetched back
    look_seconds      between two looks at a folder that is watched
    stop_seconds      that requests have to end when the server is stopped
    """

    header_seconds: float = 20
    search_seconds: float = 30
    waiting_searches: int = 256
    silent_seconds: float = 120
    file_seconds: float = 3600
    worker_memory: int = 4 << 30
    waiting_files: int = 32
    failed_files: int = 32
    look_seconds: float = 2
    stop_seconds: int = 3


@dataclass(frozen=True)
class Settings:
    """What the verb `serve` was told.

    token       what a browser or a program must know; "" for none, on loopback only
    encoder     of the store, as the user named it; "" where the store's word is enough
    uploads     the folder that keeps uploaded files; None switches uploads off
    names       further names that browsers may use for this machine
    max_upload  bytes of one file
    worker      the program that reads files of others
    folder      whose files the store holds, to be brought up to date; None where a store is served as it is
    watch       whether the folder is looked at again and again
    password    opens encrypted PDF files of the folder; workers are told it with a task, and it is kept nowhere
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    encoder: str = ""
    uploads: Path | None = None
    names: tuple[str, ...] = ()
    max_upload: int = 50_000_000
    worker: tuple[str, ...] = WORKER
    limits: Limits = field(default_factory=Limits)
    folder: Path | None = None
    watch: bool = False
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Refuse to be open to everybody."""
        if not is_loopback(self.host) and len(self.token) < MIN_TOKEN:
            raise BadInput(
                f"{self.host} can be reached by others: give ADAMERGE_TOKEN (or --token) a secret "
                f"of {MIN_TOKEN} characters or more, or serve on 127.0.0.1"
            )

    @property
    def title(self) -> str:
        """What people call the store, or the folder that is served: the last part of where it is, never the whole."""
        if self.folder is not None:
            return self.folder.name
        return self.store.rstrip("/").rsplit("/", 1)[-1] or "store"

    @property
    def private_folders(self) -> tuple[str, ...]:
        """Folders of this machine that no answer may name."""
        folders = []
        if "://" not in self.store:
            folders.append(Path(self.store).absolute().parent)
        for folder in (self.uploads, self.folder):
            if folder is not None:
                folders += [folder.absolute(), folder.absolute().parent]
        resolved = [folder.resolve() for folder in folders]
        return tuple(str(folder) for folder in dict.fromkeys(folders + resolved))

    def is_token(self, given: str) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())

    def answers_to(self, host: str) -> bool:
        """Whether a Host header means this server; any other name that leads here is DNS rebinding."""
        has_port = not host.endswith("]")
        name = host.lower().rsplit(":", 1)[0] if has_port else host.lower()
        name = name.strip("[]")
        own_names = {"localhost", self.host.lower(), *(given.lower() for given in self.names)}
        if name in own_names:
            return True
        if is_loopback(self.host):
            return is_loopback(name)
        return _is_address(name) or name == gethostname().lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host == "localhost" or (_is_address(host) and ip_address(host.strip("[]")).is_loopback)


def store_beside(folder: Path) -> Path:
    """The store of a folder that is served: beside it, so that the folder holds only what its owner put there."""
    return folder.with_name(f"{folder.name}.store")


def uploads_of(store: str) -> Path | None:
    """The folder beside a store that keeps its uploads; None for a store on another machine."""
    if "://" in store:
        return None
    return Path(f"{store.rstrip('/')}.uploads")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
