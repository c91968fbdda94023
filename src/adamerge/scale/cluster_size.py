"""How large a cluster is now: nodes come and go while a job runs."""

import time
from typing import Any

SECONDS = 1.0  # for which an answer holds: to ask takes as long as to give out three units


class ClusterSize:
    """The cores and nodes of a cluster, asked for at most once a second."""

    def __init__(self, ray: Any) -> None:
        """Ask nothing yet."""
        self._ray = ray
        self._cores, self._nodes = 0, 0
        self._until = 0.0

    @property
    def cores(self) -> int:
        """Cores of all nodes that are alive."""
        self._refresh()
        return self._cores

    @property
    def nodes(self) -> int:
        """Nodes that are alive."""
        self._refresh()
        return self._nodes

    def _refresh(self) -> None:
        now = time.monotonic()
        if now < self._until:
            return
        alive = [node for node in self._ray.nodes() if node["Alive"]]
        self._nodes = len(alive)
        self._cores = int(self._ray.cluster_resources().get("CPU", 0))
        self._until = now + SECONDS
