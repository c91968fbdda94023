"""Error messages for clients: one line, without any folder of this machine."""

import re

MAX_LETTERS = 1_000  # of an error; a damaged file may make a library write much more
ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:[^\s/'\",;()]+/)+")  # the folders of an absolute path


def redact(error: object, *folders: str) -> str:
    """The first line of an error; the folders are taken out of paths, the names of files stay."""
    text = str(error).partition("\n")[0]
    for folder in sorted(filter(None, folders), key=len, reverse=True):
        bare = folder.strip("/")
        if not bare:
            continue
        path = re.compile(rf"/?{re.escape(bare)}(/|\b)")  # Lance leaves out the first slash
        text = path.sub(_without_folder, text)
    return ABSOLUTE.sub("", text)[:MAX_LETTERS]


def _without_folder(found: re.Match[str]) -> str:
    """Nothing for the folder of a file, and words for a folder that is named alone."""
    is_folder_of_file = found[1] == "/"
    return "" if is_folder_of_file else "its folder"
