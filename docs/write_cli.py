"""Writes docs/cli.md from --help, so that the two cannot differ; tests/test_docs.py checks that it was run."""

from pathlib import Path

import click

from adamerge.cli import main

COMPLETION = """## Completion

The Tab key completes verbs, options and paths after a line in the file that your shell reads at its start:

<!-- not run: for the files of a shell -->
```sh
eval "$(_ADAMERGE_COMPLETE=bash_source adamerge)"     # bash: ~/.bashrc
eval "$(_ADAMERGE_COMPLETE=zsh_source adamerge)"      # zsh: ~/.zshrc
_ADAMERGE_COMPLETE=fish_source adamerge | source      # fish: ~/.config/fish/completions/adamerge.fish
```
"""


def render() -> str:
    """The help of every verb as Markdown."""
    parts = ["# The command line\n\nWritten by `make cli-page` from `--help`.\n"]
    settings = (
        main.context_settings
    )  # click keeps the first help option it makes: it must be the one that runs
    root = click.Context(
        main, info_name="adamerge", terminal_width=100, max_content_width=100, **settings
    )
    parts.append(f"```\n{main.get_help(root)}\n```\n")
    parts.append(COMPLETION)
    parts += _verbs(main, root)
    parts.append(
        "Exit codes: 0 done, 1 an error in one line, 2 wrong usage, 75 not now (another process writes to the store,\n"
        "or it cannot be reached: the same command may work later), 130 stopped by Ctrl-C.\n"
    )
    return "\n".join(parts)


def _verbs(group: click.Group, parent: click.Context) -> list[str]:
    """The help of the verbs of a group, and of the verbs below each."""
    parts = []
    for name in group.list_commands(parent):
        verb = group.get_command(parent, name)
        context = click.Context(
            verb, info_name=name, parent=parent, terminal_width=100, max_content_width=100
        )
        parts.append(f"## {context.command_path}\n\n```\n{verb.get_help(context)}\n```\n")
        if isinstance(verb, click.Group):
            parts += _verbs(verb, context)
    return parts


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(render())
