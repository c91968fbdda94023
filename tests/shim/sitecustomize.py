"""Lets torchvision's CUDA wheel load beside a CPU build of torch, in the environment of `make test` only.

The wheel cannot load its operators there and fails on import; transformers needs none of them. The Makefile puts this
file into .venv, where Python runs it at every start. Real users take both packages from one index and do not need it.
"""

import sys
from importlib.abc import MetaPathFinder

KEPT = []


class Declare(MetaPathFinder):
    """Declares the operators just before torchvision is imported; the import itself is left to others."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision" and not KEPT:
            import torch

            KEPT.append(torch.library.Library("torchvision", "DEF"))
            if torch.version.cuda is None:
                for operator in ("nms", "qnms"):
                    KEPT[0].define(
                        f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
                    )


sys.meta_path.insert(0, Declare())
