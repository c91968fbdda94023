"""How a server runs, checked before anything is opened."""

import hmac
import sys
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname

from adamerge.errors import BadInput

LEAST = 16  # characters of a token that guards a server others can reach
WORKER = (sys.executable, "-m", "adamerge.server.worker")


@dataclass(frozen=True)
class Settings:
    """What the verb `serve` was told.

    token       what a browser or a program must know; "" for none, on loopback only
    encoder     of the store, as the user named it; "" where the store's word is enough
    uploads     the folder that keeps uploaded files; None switches uploads off
    names       further names that browsers may use for this machine
    max_upload  bytes of one file
    seconds     that a worker may be silent, `longest` that one file may take in all
    memory      bytes that a worker may take above what its encoder needs
    worker      the program that reads files of others
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    encoder: str = ""
    uploads: Path | None = None
    names: tuple[str, ...] = ()
    max_upload: int = 50_000_000
    seconds: float = 120
    longest: float = 3600
    memory: int = 4 << 30
    worker: tuple[str, ...] = WORKER

    def __post_init__(self) -> None:
        """Refuse to be open to everybody."""
        if not is_loopback(self.host) and len(self.token) < LEAST:
            raise BadInput(
                f"{self.host} can be reached by others: give ADAMERGE_TOKEN (or --token) a secret of {LEAST} "
                f"characters or more, or serve on 127.0.0.1"
            )

    @property
    def title(self) -> str:
        """What people call the store: the last part of where it is, never the whole."""
        return self.store.rstrip("/").rsplit("/", 1)[-1] or "store"

    def is_token(self, given: str) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())

    def answers_to(self, host: str) -> bool:
        """Whether a Host header means this server; a name of somebody else's that leads here is DNS rebinding."""
        name = host.lower().rsplit(":", 1)[0] if not host.endswith("]") else host.lower()
        name = name.strip("[]")
        if name == "localhost" or name in {
            self.host.lower(),
            *(given.lower() for given in self.names),
        }:
            return True
        if is_loopback(self.host):
            return is_loopback(name)
        return _is_address(name) or name == gethostname().lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host == "localhost" or (_is_address(host) and ip_address(host.strip("[]")).is_loopback)


def uploads_of(store: str) -> Path | None:
    """Where files uploaded to a store are kept: a folder beside it; nowhere for a store on another machine."""
    return None if "://" in store else Path(f"{store.rstrip('/')}.uploads")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
