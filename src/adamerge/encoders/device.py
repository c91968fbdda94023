"""Where an encoder runs."""

import torch

from adamerge.errors import BadInput


def choose(given: str | None) -> str:
    """The device that was asked for, if it is there; else the best there is."""
    there = (
        ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available() + ["cpu"]
    )
    if given is not None and given.partition(":")[0] not in there:
        raise BadInput(f"there is no device '{given}' here, only {', '.join(there)}")
    return given or there[0]
