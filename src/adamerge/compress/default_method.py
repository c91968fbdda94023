"""The method and the dtype that pages are stored by where nobody names one.

`adamerge index`, `inspect FILE` and the server read it here; nothing else says it. It is what measures best, on words
(docs/results.md) and on image patches (docs/results-images.md), and it needs no attention, so it suits every encoder.
`am.compress` stands for the paper: its default is `adamerge`.
"""

DEFAULT_METHOD = "height"
# Of files that are indexed. Four bits on top of merging cost nothing that was measured, and take a quarter of the bytes
# of float16. A store that pages are added to from Python keeps them as float16.
INDEX_DTYPE = "int4"
