"""Whether what the program did with an input is a finding."""

import hashlib
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import adamerge
from adamerge.errors import AdamergeError
from fuzz.target import Target, Try

SOURCE = str(Path(adamerge.__file__).parent)


@dataclass(frozen=True)
class Finding:
    """What went wrong, and where: findings with one signature are one fault."""

    kind: str  # exception, message, crash, hang, memory
    where: str
    text: str

    @property
    def signature(self) -> str:
        """A short name of the fault."""
        return f"{self.kind}-{hashlib.sha256(self.where.encode()).hexdigest()[:8]}"


def judge(target: Target, try_input: Try, data: bytes) -> Finding | None:
    """Take an input through the door of a target; a raw exception or a message that does not help is a finding."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try_input(data)
    except AdamergeError as error:
        return _judge_message(target, error)
    except Exception as error:
        where = f"{type(error).__name__} at {_place(error.__traceback__)}"
        return Finding("exception", where, traceback.format_exc())
    return None


def _judge_message(target: Target, error: AdamergeError) -> Finding | None:
    """Our errors are one printable line; that of a file says which."""
    message = str(error)
    if message and message.isprintable() and target.file_name in message:
        return None
    where = f"{type(error).__name__} at {_place(error.__traceback__)}"
    return Finding("message", where, f"{message!r}\n{traceback.format_exc()}")


def _place(trace: TracebackType | None) -> str:
    """The innermost line of ours in a traceback."""
    frames = traceback.extract_tb(trace)
    ours = [frame for frame in frames if frame.filename.startswith(SOURCE)] or list(frames)
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "nowhere"
