"""The doors of the program: the place of each target, a module and the name it has there."""

OWN_MODULE = (
    *("methods", "filters", "manifests", "metadata", "experiments"),
    *("shards", "numpy", "byaldi", "images", "pdf", "kernels", "http"),
)
VECTOR_FILES = ("safetensors", "arrow", "feather", "parquet", "pt")

TARGETS = {name: f"fuzz.targets.{name}:TARGET" for name in OWN_MODULE}
TARGETS |= {name: f"fuzz.targets.vector_files:{name.upper()}" for name in VECTOR_FILES}
