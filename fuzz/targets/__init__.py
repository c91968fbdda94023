"""The doors of the program: a module each, by the name of its target."""

NAMES = (
    *("methods", "filters", "manifests", "metadata", "experiments"),
    *("shards", "numpy", "safetensors", "arrow", "feather", "parquet", "pt", "byaldi"),
    *("images", "pdf", "kernels", "http"),
)
TARGETS = {name: f"fuzz.targets.{name}" for name in NAMES}
