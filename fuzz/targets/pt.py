"""Files of tensors that torch saved."""

from fuzz.targets.vector_files import vector_file_target

TARGET = vector_file_target("pt")
