"""What the verbs share that can work on a Ray cluster: the options, and what is said at the end."""

from typing import TYPE_CHECKING, Any

import click

from adamerge.cli.common import MODULES

if TYPE_CHECKING:
    from adamerge.scale import Cluster, Summary

on_cluster = click.option(
    "--ray",
    metavar="ADDRESS",
    help="Work on a Ray cluster: local, auto, host:port or ray://host:10001. See docs/scale.md.",
)


def with_workers(verb: Any) -> Any:
    """The options of a verb that encodes on a cluster."""
    workers = click.option(
        "--workers",
        type=click.IntRange(1),
        help="With --ray: workers that encode at a time.  [default: one for each GPU or core]",
    )
    gpus = click.option(
        "--gpus-per-worker",
        type=click.FloatRange(0),
        default=0.0,
        help="With --ray: GPUs of a worker; 0.5 lets two share one.  [default: none]",
    )
    return on_cluster(workers(gpus(verb)))


def cluster_of(
    address: str | None, workers: int | None = None, gpus_per_worker: float = 0.0
) -> "Cluster | None":
    """The cluster that was asked for; None for this machine alone."""
    if address is None:
        if workers is not None or gpus_per_worker:
            raise click.UsageError("--workers and --gpus-per-worker go with --ray ADDRESS")
        return None
    from adamerge.scale import Cluster

    modules = click.get_current_context().meta.get(MODULES, ())
    return Cluster(address, workers, gpus_per_worker, tuple(modules))


def refuse_password(cluster: "Cluster | None", password: str) -> None:
    """Refuse a password for a cluster, which would send it to other machines and write it into their logs."""
    if cluster is not None and password:
        raise click.UsageError(
            "a cluster opens no encrypted files: leave out --password and ADAMERGE_PASSWORD, or --ray"
        )


def tell_summary(summary: "Summary") -> None:
    """Say what a run on a cluster has cost."""
    click.echo(f"adamerge: {summary}", err=True)
