"""Writes docs/cli.md from --help, so that the two cannot differ; tests/test_docs.py checks that it was run."""

from pathlib import Path

import click

from adamerge.cli import main


def render() -> str:
    """The help of every verb as Markdown."""
    parts = ["# The command line\n\nWritten by `make docs` from `--help`.\n"]
    root = click.Context(main, info_name="adamerge", terminal_width=100, max_content_width=100)
    parts.append(f"```\n{main.get_help(root)}\n```\n")
    for name, verb in main.commands.items():
        context = click.Context(verb, info_name=name, parent=root, terminal_width=100, max_content_width=100)
        parts.append(f"## adamerge {name}\n\n```\n{verb.get_help(context)}\n```\n")
    parts.append("Exit codes: 0 done, 1 an error in one line, 2 wrong usage, 130 stopped by Ctrl-C.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(render())
