"""Office files -> PDF, by LibreOffice, if it is installed.

LibreOffice runs as a process of its own with a limit of time, memory and disk, and with a profile that is made for one
file and removed with it: two can run at once, and nothing is left behind. The profile runs no macro, follows no link of
a document to another file or machine, and has no way to the network. The file is copied to a folder where nothing else
lies. A picture that is not in the file is therefore not seen.
"""

import shutil
import subprocess
import threading
from collections import OrderedDict
from pathlib import Path
from tempfile import TemporaryDirectory

from adamerge.buckets import AnyPath, BucketPath
from adamerge.errors import BadFile

PACKED = frozenset({".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods"})  # a ZIP file of XML
BINARY = frozenset({".doc", ".ppt", ".xls"})
SUFFIXES = PACKED | BINARY | {".rtf", ".html", ".htm"}

INSTALL = (
    "install LibreOffice (apt install libreoffice-writer-nogui libreoffice-impress-nogui "
    "libreoffice-calc-nogui, or brew install --cask libreoffice), or save it as PDF"
)
PLACES = ("/Applications/LibreOffice.app/Contents/MacOS/soffice",)  # where it is not in PATH
SECONDS = 100.0  # that a file may take: less than a worker of the server may be silent
MEMORY_KIB = 4 << 20
FILE_BLOCKS = 1 << 20  # of 512 bytes, that a file it writes may have
KEPT_BYTES = 500_000_000  # of PDFs that are kept while the process runs
READ_AS = {  # filters where LibreOffice would choose one that is made for screens, and loses lines
    ".html": "HTML (StarWriter)",
    ".htm": "HTML (StarWriter)",
}
RESTART = 81  # exit code: the profile is made now, start again

# Set in a shell, so that the limits hold from the first instruction on; a system without one of them does without.
LIMITED = (
    f'{{ ulimit -c 0; ulimit -f {FILE_BLOCKS}; ulimit -v {MEMORY_KIB}; }} 2>/dev/null; exec "$@"'
)

SETTINGS = (  # (path, property, value) of LibreOffice's registry
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),  # never
    ("Office.Calc/Content/Update", "Link", "2"),  # never
    ("Inet/Settings", "ooInetProxyType", "2"),  # by hand: a port where nobody listens
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("Inet/Settings", "ooInetNoProxy", ""),
)
REGISTRY = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">\n{items}</oor:items>\n'
)
ITEM = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>\n'

Version = tuple[str, str]  # where a file lies, and what tells whether it has changed


def is_installed() -> bool:
    """Whether LibreOffice is installed."""
    return _program() is not None


def as_pdf(path: Path, name: AnyPath | None = None) -> Path:
    """A PDF of an office file. It is made once, kept until the file changes, and removed with this process.

    name  what errors call the file; None for its path. A file in a bucket is known by it: its copies come and go
    """
    return _conversions.pdf_of(path, name or path)


class Conversions:
    """The PDFs that this process has made, the last used last; the oldest go where there are too many bytes."""

    def __init__(self) -> None:
        """Make nothing yet."""
        self._folder: TemporaryDirectory[str] | None = None
        self._pdfs: OrderedDict[Version, Path] = OrderedDict()
        self._failures: dict[Version, str] = {}
        self._made = 0
        self._lock = threading.Lock()

    def pdf_of(self, path: Path, name: AnyPath) -> Path:
        """The PDF of a file; a file that failed is not tried again until it has changed."""
        version = _version(path, name)
        with self._lock:
            if version in self._failures:
                raise BadFile(self._failures[version])
            if version in self._pdfs:
                self._pdfs.move_to_end(version)
                return self._pdfs[version]
            target = self._new_path()
        try:
            _convert(path, target, name)
        except BadFile as error:
            with self._lock:
                self._failures[version] = str(error)
            raise
        with self._lock:
            self._pdfs[version] = target
            self._remove_oldest()
        return target

    def _new_path(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="adamerge-office-")
        self._made += 1
        return Path(self._folder.name) / f"{self._made}.pdf"

    def _remove_oldest(self) -> None:
        """Remove PDFs until the rest are small enough; the last one always stays. Who reads one reads on."""
        kept = sum(pdf.stat().st_size for pdf in self._pdfs.values())
        while kept > KEPT_BYTES and len(self._pdfs) > 1:
            _, pdf = self._pdfs.popitem(last=False)
            kept -= pdf.stat().st_size
            pdf.unlink()


_conversions = Conversions()


def _version(path: Path, name: AnyPath) -> Version:
    if isinstance(name, BucketPath):
        return name.address, name.version()
    status = path.stat()
    return str(path.absolute()), f"{status.st_size} bytes of {status.st_mtime_ns}"


def _convert(path: Path, target: Path, name: AnyPath) -> None:
    """Write the PDF of an office file to `target`."""
    program = _program()
    if program is None:
        raise BadFile(f"{name} cannot be read: {INSTALL}")
    _check_start(path, name)
    with TemporaryDirectory(prefix="adamerge-office-") as place:
        # by a name of ours: LibreOffice takes a name that begins with "-" for an option
        document = Path(place) / f"document{path.suffix.lower()}"
        shutil.copyfile(path, document)
        _write_profile(Path(place))
        _run(program, document, name)
        pdf = document.with_suffix(".pdf")
        if not pdf.exists():
            raise BadFile(f"{name} is damaged, or has a password: LibreOffice cannot read it")
        shutil.move(pdf, target)


def _check_start(path: Path, name: AnyPath) -> None:
    """Refuse a file that is not what its ending says: LibreOffice would take it for a text."""
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        start = file.read(8)
    if suffix in PACKED and not start.startswith(b"PK"):
        raise BadFile(f"{name} is damaged: it is no {suffix} file")
    if suffix in BINARY and not start.startswith((b"\xd0\xcf\x11\xe0", b"{\\rtf", b"PK")):
        raise BadFile(f"{name} is damaged: it is no {suffix} file")
    if suffix == ".rtf" and not start.startswith(b"{\\rtf"):
        raise BadFile(f"{name} is damaged: it is no {suffix} file")


def _write_profile(place: Path) -> None:
    items = [ITEM.format(*setting) for setting in SETTINGS]
    registry = place / "profile" / "user" / "registrymodifications.xcu"
    registry.parent.mkdir(parents=True)
    registry.write_text(REGISTRY.format(items="".join(items)))


def _run(program: str, document: Path, name: AnyPath) -> None:
    """Let LibreOffice write the PDF beside a document; `name` is what errors call the document."""
    place = document.parent
    command = ["/bin/sh", "-c", LIMITED, "sh", program]
    command += [f"-env:UserInstallation={(place / 'profile').as_uri()}"]
    command += ["--headless", "--norestore", "--nologo", "--nodefault"]
    if document.suffix in READ_AS:
        command += [f"--infilter={READ_AS[document.suffix]}"]
    command += ["--convert-to", "pdf", "--outdir", str(place), str(document)]
    # a document can read the environment, so there are no secrets in it
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(place),
        "TMPDIR": str(place),
        "LANG": "C.UTF-8",
    }
    for _ in range(2):
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=place,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise BadFile(
                f"{name} took LibreOffice longer than {SECONDS:.0f} s, and was given up"
            ) from None
        if ended.returncode != RESTART:
            return


def _program() -> str | None:
    """LibreOffice itself, not the script that starts it: killing the script would leave it running."""
    script = shutil.which("soffice") or shutil.which("libreoffice")
    places = [Path(script).resolve()] if script else [Path(place) for place in PLACES]
    for place in places:
        binary = place.with_name("soffice.bin")
        if binary.exists():
            return str(binary)
        if place.exists():
            return str(place)
    return None
