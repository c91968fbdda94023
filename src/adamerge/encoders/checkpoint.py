"""A checkpoint on the hub or in a folder: its files, its kind, its commit, and the base that an adapter goes onto."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from transformers.utils.hub import cached_file

from adamerge.errors import BadFile

ADAPTER = "adapter_config.json"
CONFIG = "config.json"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint by its name.

    name      on the hub, or a folder
    revision  a commit, branch or tag of the hub; None for its main branch
    """

    name: str
    revision: str | None = None

    @cached_property
    def adapter(self) -> dict[str, Any] | None:
        """The config of an adapter; None for a checkpoint that stands alone."""
        try:
            found = cached_file(
                self.name,
                ADAPTER,
                revision=self.revision,
                _raise_exceptions_for_missing_entries=False,
            )
        except OSError:
            return None
        if not found:
            return None
        config: dict[str, Any] = json.loads(Path(found).read_text())
        return config

    @cached_property
    def base(self) -> Self | None:
        """The checkpoint that an adapter goes onto, at the revision that it names; None without an adapter."""
        if self.adapter is None:
            return None
        name = str(self.adapter["base_model_name_or_path"])
        return type(self)(name, self.adapter.get("revision"))

    @property
    def kind(self) -> str:
        """The model type that its config tells, or that of its base."""
        if self.base:
            return self.base.kind
        config = json.loads(self._file(CONFIG).read_text())
        return str(config.get("model_type"))

    @property
    def commit(self) -> str:
        """The commit of a checkpoint of the hub, which keeps it in the path; "local" of a folder."""
        folders = self._file(ADAPTER if self.adapter else CONFIG).parts
        if "snapshots" not in folders:
            return "local"
        return folders[folders.index("snapshots") + 1]

    def _file(self, file: str) -> Path:
        try:
            return Path(str(cached_file(self.name, file, revision=self.revision)))
        except OSError as error:
            at = f" at revision {self.revision}" if self.revision else ""
            reason = str(error).splitlines()[0]
            raise BadFile(
                f"{self.name}{at} is no checkpoint here or on the hub: {reason}"
            ) from None
