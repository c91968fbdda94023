"""What is asked: datasets of pages, queries, and judgements that say which pages answer which query.

dataset          Dataset and its checks
book_folder      a manual with an index, as `books` makes it
parquet_folder   local folders in the schemas of ViDoRe
vidore           ViDoRe v1, v2 and v3, from a local folder or the hub
registry         a name -> a dataset, wherever it is
"""

from adamerge.evaluate.data.dataset import Dataset, Judgements
from adamerge.evaluate.data.registry import dataset_names, load_dataset

__all__ = ["Dataset", "Judgements", "dataset_names", "load_dataset"]
