"""Arrow streams, as a dataset on disk is."""

from fuzz.targets.vector_files import vector_file_target

TARGET = vector_file_target("arrow")
