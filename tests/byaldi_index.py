"""An index folder as byaldi 0.0.7 writes it: the same calls of torch and gzip, the same names and keys."""

import gzip
import json

from later import torch


def write_index(folder, pages, model="vidore/colqwen2-v1.0", names=None, at_once=500):
    """Write tensors, with the document and page of each: [(tensor, doc_id, page_id), ...]."""
    embeddings = folder / "embeddings"
    embeddings.mkdir(parents=True)
    tensors = [tensor for tensor, _, _ in pages]
    for i in range(0, len(tensors), at_once):
        torch.save(tensors[i : i + at_once], embeddings / f"embeddings_{i}.pt")
    config = {
        "model_name": model,
        "full_document_collection": False,
        "highest_doc_id": max((document for _, document, _ in pages), default=-1),
        "resize_stored_images": False,
        "max_image_width": None,
        "max_image_height": None,
        "library_version": "0.0.7",
    }
    places = {
        i: {"doc_id": document, "page_id": page} for i, (_, document, page) in enumerate(pages)
    }
    write_json(folder / "index_config.json.gz", config)
    write_json(folder / "embed_id_to_doc_id.json.gz", places)
    if names is not None:
        write_json(folder / "doc_ids_to_file_names.json.gz", names)
    write_json(folder / "metadata.json.gz", {})
    return folder


def write_json(path, value):
    with gzip.open(path, "wt", encoding="utf8") as file:
        file.write(json.dumps(value, indent=2))
