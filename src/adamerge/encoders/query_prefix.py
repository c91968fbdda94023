"""The words before every query, as each class of checkpoint was trained with them.

colpali-engine itself puts no words there since 0.3.13, and scores fall without them; mteb puts them back
(embeddings-benchmark/mteb#5106, #5166, #5207).
"""

OPTION = "query_prefix"  # of an encoder
QUERY_PREFIXES = {
    "ColPali": "Query: ",
    "ColQwen2": "Query: ",
    "ColQwen2_5": "Query: ",
    "ColIdefics3": "Query: ",
}


def trained_prefix(model_class: str) -> str:
    """The prefix that a class of checkpoints was trained with; "" where none is known."""
    return QUERY_PREFIXES.get(model_class, "")
