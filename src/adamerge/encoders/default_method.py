"""The method that compresses the pages of an encoder where nobody names one.

This is the only place that says so: the command line, the inspector and the server ask `default_method`, and a test
compares docs/search.md with it.
"""

METHOD_OF_THE_PAPER = "adamerge"
METHOD_BY_ENCODER = {
    # Its attention prunes little better than chance: docs/results.md has the loss on six books.
    "minilm": "adamerge:k=none,c_min=0.6,unit=true",
}


def default_method(encoder: str) -> str:
    """The name of the method for an encoder; for any encoder that is not listed, the method of the paper."""
    return METHOD_BY_ENCODER.get(encoder, METHOD_OF_THE_PAPER)
