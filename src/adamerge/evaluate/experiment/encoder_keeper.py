"""One loaded encoder at a time: kept while it is asked for, freed before another one is loaded."""

import gc

from adamerge.encoders import Encoder, EncoderSpec


class EncoderKeeper:
    """Loads encoders, and keeps the last one: two large models rarely fit into one memory."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._spec: EncoderSpec | None = None
        self._encoder: Encoder | None = None

    def load(self, spec: EncoderSpec) -> Encoder:
        """The encoder of a spec: the one that is there, or a new one in its place."""
        if self._encoder is not None and self._spec == spec:
            return self._encoder
        self._encoder = None
        gc.collect()
        self._encoder = spec.load()
        self._spec = spec
        return self._encoder
