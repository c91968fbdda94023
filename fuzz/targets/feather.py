"""Feather files, which are Arrow files, packed or not."""

from fuzz.targets.vector_files import vector_file_target

TARGET = vector_file_target("feather")
