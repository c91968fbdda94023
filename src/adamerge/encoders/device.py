"""Where an encoder runs."""

import torch

from adamerge.errors import BadInput


def choose_device(given: str | None) -> str:
    """The device that was asked for, if this machine has it; else the best that it has."""
    devices = ["cpu"]
    if torch.backends.mps.is_available():
        devices.insert(0, "mps")
    if torch.cuda.is_available():
        devices.insert(0, "cuda")

    if given is None:
        return devices[0]
    kind = given.partition(":")[0]
    if kind not in devices:
        raise BadInput(f"there is no device '{given}' here, only {', '.join(devices)}")
    return given
