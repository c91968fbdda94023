"""The ColPali family through colpali-engine: page images -> patches, attention, grid, boxes. Needs the extra `colpali`.

The class is read from the checkpoint, a hub name or a local folder, so that a name is all there is to give. LoRA
adapters (colqwen2.5-v0.2, colnomic) load onto the base that they name.
"""

import gc
import logging
from collections.abc import Sequence
from importlib.metadata import version
from threading import Lock
from typing import Any

import torch
from colpali_engine import models
from torch import Tensor

from adamerge.arrays import Floats
from adamerge.encoders import as_pages
from adamerge.encoders.attention import capture
from adamerge.encoders.checkpoint import Checkpoint
from adamerge.encoders.device import choose_device
from adamerge.encoders.layout import patch_layout
from adamerge.encoders.query_prefix import trained_prefix
from adamerge.errors import BadFile, BadInput, TooLarge
from adamerge.types import MultiVector, Page

log = logging.getLogger(__name__)

# architecture or model type in a checkpoint's config -> class of colpali-engine, its processor
CLASSES = {
    "qwen2_5_vl": ("ColQwen2_5", "ColQwen2_5_Processor"),
    "qwen2_vl": ("ColQwen2", "ColQwen2Processor"),
    "qwen3_vl": ("ColQwen3", "ColQwen3Processor"),
    "qwen3_5": ("ColQwen3_5", "ColQwen3_5Processor"),
    "paligemma": ("ColPali", "ColPaliProcessor"),
    "idefics3": ("ColIdefics3", "ColIdefics3Processor"),
    "modernvbert": ("ColModernVBert", "ColModernVBertProcessor"),
}
LIBRARIES = ("torch", "transformers", "colpali-engine")
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class ColPaliEncoder:
    """A loaded model of the family; use load_encoder()."""

    def __init__(
        self,
        name: str,
        *,
        device: str | None = None,
        dtype: str | None = None,
        max_num_visual_tokens: int | None = None,
        query_prefix: str | None = None,
        revision: str | None = None,
    ) -> None:
        """Load a checkpoint; refuse one that would leave weights random.

        query_prefix  the words before every query; None for those that the checkpoint was trained with
        revision      a commit, branch or tag of the hub; None for its main branch
        """
        checkpoint = Checkpoint(name, revision)
        model_class, processor_class = _classes(checkpoint)
        if query_prefix is None:
            query_prefix = trained_prefix(model_class.__name__)
        given = {
            "dtype": dtype,
            "max_num_visual_tokens": max_num_visual_tokens,
            "query_prefix": query_prefix,
            "revision": revision,
        }
        self.options = {key: value for key, value in given.items() if value is not None}
        self.device = choose_device(device)
        self.dtype = dtype or _usual_dtype(self.device)
        if self.dtype not in DTYPES:
            raise BadInput(f"dtype must be one of {', '.join(DTYPES)}, got '{self.dtype}'")

        limit = {}
        if max_num_visual_tokens is not None:
            if "Qwen" not in model_class.__name__:
                raise BadInput(
                    f"{model_class.__name__} makes as many patches as its pictures need: it has no limit to set"
                )
            limit["max_num_visual_tokens"] = max_num_visual_tokens
        self.processor: Any = processor_class.from_pretrained(name, revision=revision, **limit)
        self.processor.query_prefix = query_prefix

        self.model: Any = _load(model_class, checkpoint, DTYPES[self.dtype]).to(self.device).eval()
        self.name = name
        self.base = checkpoint.base.name if checkpoint.base else None
        self.revision = checkpoint.commit
        self.dim = int(getattr(self.model, "dim", 128))
        self.max_num_visual_tokens = max_num_visual_tokens
        self.at_once = 2**31  # pages; less once memory has run out
        # one forward pass at a time: the model keeps positions and attention of its last one
        self._turn = Lock()

    @property
    def about(self) -> dict[str, Any]:
        """What a manifest says of the encoder."""
        return {
            "name": self.name,
            "revision": self.revision,
            "class": type(self.model).__name__,
            "base": self.base,
            "dtype of the model": self.dtype,
            "device": self.device,
            "attention kernel": self.model.config._attn_implementation,
            "max_num_visual_tokens": self.max_num_visual_tokens,
            "options": self.options,
            "query prefix": self.processor.query_prefix,
            "query augmentation": self.processor.query_augmentation_token,
            "libraries": {package: version(package) for package in LIBRARIES},
        }

    def encode_pages(self, pages: Sequence[Page | Any]) -> list[MultiVector]:
        """Patches of each page with the attention of its last real token; takes fewer at once when memory runs out."""
        waiting = as_pages(pages)
        out: list[MultiVector] = []
        while waiting:
            batch = waiting[: self.at_once]
            encoded = self._attempt(batch)
            if encoded is None:  # outside of the except block, which keeps the failed batch alive
                self.at_once = len(batch) // 2
                log.warning(
                    "out of memory with %d pages at once; going on with %d",
                    len(batch),
                    self.at_once,
                )
                torch.cuda.empty_cache()
                continue
            out += encoded
            waiting = waiting[len(batch) :]
        return out

    def _attempt(self, batch: list[Page]) -> list[MultiVector] | None:
        """The patches of a batch, None if it does not fit in memory."""
        ids = [page.id for page in batch]
        try:
            return self._encode([page.image for page in batch], ids)
        except torch.OutOfMemoryError as error:
            if len(batch) == 1:
                raise TooLarge(
                    f"page '{ids[0]}' alone does not fit in memory: fewer visual tokens, a smaller dtype ({error})"
                ) from None
            return None
        except ValueError as error:  # a processor that wants another kind of picture
            raise BadInput(f"page {', '.join(map(repr, ids))}: {error}") from None

    def encode_queries(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of each query, with the prefix and augmentation of its family: (q, d) each."""
        if not texts:
            return []
        with self._turn:
            batch = self._to_device(self.processor.process_queries(texts=list(texts)))
            vectors = self._forward(batch)
        real = batch["attention_mask"].bool()
        return [_array(rows[kept]) for rows, kept in zip(vectors, real, strict=True)]

    def query_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The text behind each vector of each query, prefix and augmentation included."""
        with self._turn:
            batch = self.processor.process_queries(texts=list(texts))
        real = batch["attention_mask"].bool()
        found = []
        for ids, kept in zip(batch["input_ids"], real, strict=True):
            tokens = [self.processor.tokenizer.decode([id]) for id in ids[kept].tolist()]
            found.append(tokens)
        return found

    @torch.no_grad()
    def _encode(self, images: list[Any], ids: list[str]) -> list[MultiVector]:
        with self._turn:
            batch = self._to_device(self.processor.process_images(images))
            mask = batch["attention_mask"]
            rows = None
            if "ModernVBert" in type(self.model).__name__:  # it reads in both directions
                rows = mask.bool()
            with capture(self.model, mask, rows) as seen:
                vectors = self._forward(batch)
        if seen.weights is None:
            raise BadInput(f"{self.name}: the attention of the last layer was not read")
        importance = seen.weights.mean(1)
        return [self._page(batch, vectors, importance, i, id) for i, id in enumerate(ids)]

    @torch.no_grad()
    def _forward(self, batch: dict[str, Tensor]) -> Tensor:
        if hasattr(self.model, "rope_deltas"):
            self.model.rope_deltas = None  # left over from the batch before
        vectors: Tensor = self.model(**batch)
        return vectors

    def _page(
        self, batch: dict[str, Tensor], vectors: Tensor, importance: Tensor, i: int, id: str
    ) -> MultiVector:
        real = batch["attention_mask"][i].bool()
        patch = (batch["input_ids"][i] == self._image_token()) & real
        self._check_limit(int(patch.sum()), id)
        grid, boxes = patch_layout(self.processor, batch, i, int(patch.sum()))
        return MultiVector(
            vectors=_array(vectors[i][patch]),
            attention=_array(importance[i][patch]),
            extra=_array(vectors[i][real & ~patch]),
            grid=grid,
            boxes=boxes,
            id=id,
        )

    def _check_limit(self, patches: int, id: str) -> None:
        """Refuse a page above the limit: a processor that does not obey it would make another experiment of a run."""
        limit = self.max_num_visual_tokens
        if limit is not None and patches > limit:
            raise BadFile(
                f"page '{id}' has {patches} patches, and max_num_visual_tokens is {limit}: "
                f"the processor of {self.name} does not obey it; install the versions of constraints.txt"
            )

    def _image_token(self) -> int:
        token = getattr(self.processor, "image_token_id", None)
        if token is None:
            token = self.processor.tokenizer.convert_tokens_to_ids("<image>")
        return int(token)

    def _to_device(self, batch: Any) -> dict[str, Tensor]:
        moved = {}
        for key, value in batch.items():
            if key == "labels":  # PaliGemma's: the model would compute a loss over its vocabulary
                continue
            if value.is_floating_point():
                value = value.to(DTYPES[self.dtype])
            moved[key] = value.to(self.device)
        return moved


def _usual_dtype(device: str) -> str:
    if device.startswith("cuda"):
        return "bfloat16"
    return "float32"


def _classes(checkpoint: Checkpoint) -> tuple[Any, Any]:
    kind = checkpoint.kind
    if kind not in CLASSES:
        raise BadFile(
            f"{checkpoint.name} is of type '{kind}'; the ColPali family here: {', '.join(CLASSES)}"
        )
    model, processor = CLASSES[kind]
    return getattr(models, model), getattr(models, processor)


def _load(model_class: Any, checkpoint: Checkpoint, dtype: torch.dtype) -> Any:
    """The model, or an error where transformers would fill in random weights without a word."""
    where: dict[str, Any] = {"revision": checkpoint.revision}
    if checkpoint.base:
        _check_base(model_class, checkpoint, dtype)
        gc.collect()  # the base that was looked at must be gone before the model comes
        where = {
            "revision": checkpoint.base.revision,
            "adapter_kwargs": {"revision": checkpoint.revision},
        }

    model, info = model_class.from_pretrained(
        checkpoint.name, dtype=dtype, output_loading_info=True, **where
    )
    _refuse(checkpoint.name, info)
    _remove_language_heads(model)
    return model


def _check_base(model_class: Any, checkpoint: Checkpoint, dtype: torch.dtype) -> None:
    """Refuse a base that lacks weights: loading an adapter tells of the adapter's keys only."""
    base = checkpoint.base
    adapter = checkpoint.adapter or {}
    if base is None:
        return
    _, info = model_class.from_pretrained(
        base.name, revision=base.revision, dtype=dtype, output_loading_info=True
    )
    own = set(adapter.get("modules_to_save") or ())
    lost = [key for key in info["missing_keys"] if not own & set(key.split("."))]
    _refuse(base.name, {"missing_keys": lost})


def _remove_language_heads(model: Any) -> None:
    """ColPali would score its whole vocabulary for every patch, and nobody reads that."""
    names = [name for name, _ in model.named_modules()]
    for name in names:
        if name.endswith(".lm_head"):
            parent = model.get_submodule(name.rpartition(".")[0])
            parent.lm_head = torch.nn.Identity()


def _refuse(name: str, info: dict[str, Any]) -> None:
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if keys := sorted(info.get(kind) or ()):
            raise BadFile(
                f"{name}: {len(keys)} {kind.replace('_', ' ')} ({keys[0]} ...): weights would be random"
            )


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.float().cpu().numpy()
    return array
