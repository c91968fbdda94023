"""What a run on a cluster has cost."""

from dataclasses import dataclass


@dataclass
class Summary:
    """Counts of a run, kept by the driver.

    cpu_seconds  of the processors of all workers, for units that were done
    gpu_seconds  for which GPUs were held by workers at work
    retries      units that were tried again because a worker or a node was lost
    """

    pages: int = 0
    skipped: int = 0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    retries: int = 0
    nodes: int = 0

    def __str__(self) -> str:
        """The summary in one line."""
        parts = [f"{self.pages:,} pages", f"{self.cpu_seconds:.1f} s of CPU"]
        if self.gpu_seconds:
            parts.append(f"{self.gpu_seconds:.1f} s of GPU")
        parts.append(counted(self.nodes, "node", "nodes"))
        if self.retries:
            parts.append(counted(self.retries, "retry", "retries"))
        if self.skipped:
            parts.append(counted(self.skipped, "bad page", "bad pages"))
        return ", ".join(parts)


def counted(count: int, one: str, many: str) -> str:
    """A number of things in words: 1 node, 2 nodes."""
    if count == 1:
        return f"1 {one}"
    return f"{count:,} {many}"
