"""What is run: every method and control on every dataset as every encoder sees it, one cell each.

experiment_file   a TOML file -> Experiment: which encoders, datasets, methods and controls
controls          what every method is compared with
vector_cache      a dataset, encoded once; encoder_keeper: one loaded encoder at a time
bm25_control      the score of every query on every page, by words; search.score_matrix: by vectors
measures          scores and judgements -> nDCG and others
cell              what is recorded of one method on one dataset
cell_files        cells on disk, and packed
dataset_files     what all cells of a dataset share, on disk
gzip_json         the format of both; file_names: names of methods and others as names of files
compute_cell      a method and an encoded dataset -> a cell
runner            the loop over all cells that are not there yet
"""

from adamerge.evaluate.experiment.cell import Cell
from adamerge.evaluate.experiment.cell_files import pack_cells, read_cells, write_cell
from adamerge.evaluate.experiment.controls import ALONE, Control, parse_method_or_control
from adamerge.evaluate.experiment.dataset_files import DATASETS, read_datasets, write_dataset
from adamerge.evaluate.experiment.experiment_file import Experiment, read_experiment
from adamerge.evaluate.experiment.file_names import file_name
from adamerge.evaluate.experiment.measures import MEASURE, MEASURES
from adamerge.evaluate.experiment.runner import Progress, plan_cells, run_cells

__all__ = [
    "ALONE",
    "DATASETS",
    "MEASURE",
    "MEASURES",
    "Cell",
    "Control",
    "Experiment",
    "Progress",
    "file_name",
    "pack_cells",
    "parse_method_or_control",
    "plan_cells",
    "read_cells",
    "read_datasets",
    "read_experiment",
    "run_cells",
    "write_cell",
    "write_dataset",
]
