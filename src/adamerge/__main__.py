"""python -m adamerge."""

from adamerge.cli import main

main(prog_name="adamerge")
