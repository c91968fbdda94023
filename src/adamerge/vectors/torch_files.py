"""Tensors of .pt and .pth files -> pages.

Such a file is a pickle in a zip archive. torch's loader of weights only opens it: it builds tensors, lists and dicts,
and calls nothing that the file names. What a tensor promises is compared with what the file holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from types import ModuleType
from typing import Any
from zipfile import ZipFile, is_zipfile

from adamerge.errors import BadFile, BadInput, missing_extra
from adamerge.types import MultiVector
from adamerge.vectors import named_arrays
from adamerge.vectors.numpy_files import check_unpacked_size
from adamerge.vectors.options import ReadOptions
from adamerge.vectors.row_columns import Array

OLDEST = (
    2,
    6,
)  # torch before it runs code of a file even where it loads weights only (CVE-2025-32434)


def read(path: Path, options: ReadOptions) -> Iterator[MultiVector]:
    """The pages of a tensor (n, d) or (pages, n, d), of a list of tensors, or of a dict of tensors."""
    found = load(path)
    ids: list[str] = []
    if isinstance(found, Mapping):
        found, ids = dict(found), _ids(found, path)
        found.pop("ids", None)
        column = options.column or "vectors"
        if isinstance(found.get(column), list | tuple):
            found = found[column]
        else:
            arrays = {str(name): _array(value, path) for name, value in found.items()}
            return named_arrays.to_pages(arrays, ids, path, options)
    elif options.column:
        raise BadInput(f"{path} holds tensors without names: leave out --column {options.column}")

    if isinstance(found, list | tuple):
        return _pages_of_list(found, ids, path)
    return named_arrays.to_pages({"vectors": _array(found, path)}, ids, path, options)


def load(path: Path) -> Any:
    """What torch.save wrote: tensors, and lists and dicts of them; anything else is refused."""
    if not is_zipfile(path):
        raise BadFile(
            f"{path} is a bare pickle, which can run code when it is opened: "
            "write it by torch.save of torch 1.6 or later, or as .npz or .safetensors"
        )
    with ZipFile(path) as archive:
        check_unpacked_size(archive, path)
    torch = _torch()
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError:
        raise BadFile(
            f"{path} is a pickle of more than tensors, and nothing else is opened: "
            "torch.save a tensor, or a list or dict of tensors"
        ) from None


def check_tensor(tensor: Any, path: Path) -> None:
    """Refuse what is no plain tensor, or one that is larger than the file that it comes from."""
    if type(tensor).__name__ not in ("Tensor", "Parameter"):
        raise BadFile(f"{path} holds a {type(tensor).__name__} where a tensor was expected")
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized:
        raise BadFile(f"{path} holds a sparse or quantised tensor: save it as a plain one")

    promised = tensor.numel() * tensor.element_size()
    held = tensor.untyped_storage().nbytes()
    if promised > held or held > path.stat().st_size:
        shape = tuple(tensor.shape)
        raise BadFile(f"{path}: a tensor of shape {shape} is larger than what the file holds")


def _pages_of_list(tensors: Sequence[Any], ids: list[str], path: Path) -> Iterator[MultiVector]:
    """A page for every tensor (n, d); a tensor (pages, n, d) is a batch of them."""
    number = 0
    for tensor in tensors:
        check_tensor(tensor, path)
        batch = [tensor]
        if tensor.ndim == 3:
            batch = list(tensor)
        for vectors in batch:
            number += 1
            id = f"{path.stem}#{number}"
            if ids:
                id = _id(ids, number, path)
            yield named_arrays.to_page({"vectors": vectors}, id, path)


def _id(ids: list[str], number: int, path: Path) -> str:
    if number > len(ids):
        raise BadFile(f"{path} has more pages than its {len(ids)} ids")
    return ids[number - 1]


def _ids(found: Mapping[Any, Any], path: Path) -> list[str]:
    ids = found.get("ids", [])
    if not isinstance(ids, list | tuple):
        raise BadFile(f"{path}: 'ids' must be a list of text, got {type(ids).__name__}")
    return [str(id) for id in ids]


def _array(tensor: Any, path: Path) -> Array:
    check_tensor(tensor, path)
    tensor = tensor.detach()
    if tensor.is_floating_point():
        tensor = tensor.float()  # NumPy lacks bfloat16
    array: Array = tensor.numpy()
    return array


def _torch() -> ModuleType:
    try:
        import torch
    except ImportError:
        raise missing_extra("reading .pt files", "torch") from None
    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) < OLDEST:
        raise missing_extra(
            f"reading .pt files with torch {torch.__version__} is not safe and", "torch"
        )
    return torch
