"""A folder of results by hand, small enough to check every number of a table on paper."""

from adamerge.evaluate.data import Dataset, dataset_names
from adamerge.evaluate.experiment import Cell, write_cell, write_dataset


def cell(folder, method, stored, values, theta=(), encoder="e", dataset="a", ms=1.0, patches=1000):
    """A cell of 10 pages with 100 patches of 8 dimensions each; a number is that of all four queries."""
    values = [values] * 4 if isinstance(values, float) else list(values)
    measures = {"nDCG@5": values, "MRR": [value / 2 for value in values]} if values else {}
    made = {"encoder": "r1", "adamerge": "0.1.0"}
    write_cell(
        folder,
        Cell(
            encoder,
            dataset,
            method,
            measures,
            10,
            patches,
            stored,
            0,
            8,
            list(theta),
            list(theta),
            ms,
            made,
            "a machine",
        ),
    )


def both(folder, method, stored, a, b, **more):
    """The same method on datasets a and b."""
    cell(folder, method, stored, a, dataset="a", **more)
    cell(folder, method, stored, b, dataset="b", **more)


def datasets(folder, *names):
    for name in names:
        queries = {f"q{i}": f"query {i}" for i in range(4)}
        pages = tuple(f"p{i}" for i in range(10))
        write_dataset(
            folder,
            Dataset(
                name,
                pages,
                queries,
                {q: {"p0": 1} for q in queries},
                lambda _: iter(()),
                source="s1",
            ),
        )


def make(folder):
    """Two datasets, and one point or two of every method that the paper names."""
    datasets(folder, "a", "b")
    both(folder, "identity", 1000, 0.9, 0.7)
    both(folder, "docpruner:k=0", 400, 0.6, 0.6)
    both(folder, "sem-cluster:m=2", 500, 0.7, 0.6)
    both(folder, "sem-cluster:m=2,unit=true", 500, 0.8, 0.6)
    both(folder, "ptm:k=0,m=2", 500, 0.8, 0.4)
    both(folder, "ptm:k=0,m=4", 250, 0.6, 0.5)
    both(folder, "ptm:k=0,m=6", 180, 0.5, 0.5, ms=3.0)
    both(folder, "ptm-attn:k=0,m=6", 180, 0.54, 0.5)
    both(folder, "adamerge-mean:k=0,c_min=0.7", 200, 0.8, 0.6)
    both(folder, "adamerge:k=0,c_min=0.7", 200, 0.9, 0.7, theta=[0.8] * 5 + [0.9] * 5)
    both(folder, "adamerge:k=0,c_min=0.7,sequence=running-min", 100, 0.5, 0.5, theta=[0.95] * 10)
    both(folder, "adamerge:k=0,c_min=0.7,cut=floor", 190, 0.8, 0.7, theta=[0.71] * 10)
    both(
        folder,
        "gaussian(adamerge:k=0,c_min=0.7)",
        500,
        (),
        (),
        theta=[0.75] * 4 + [None] * 6,
        ms=None,
    )
    both(folder, "random(adamerge:k=0,c_min=0.7)", 200, 0.3, 0.3, ms=None)
    both(folder, "identity+int4", 1000, 0.9, 0.7)
    both(folder, "sem-cluster:m=2+int4", 500, 0.6, 0.6)
    both(folder, "sem-cluster:m=2+int1", 500, 0.4, 0.4)
    both(folder, "merge-total(adamerge:k=0,c_min=0.7)", 200, 0.8, 0.7, ms=None)
    both(folder, "mean-vector", 10, 0.2, 0.2, ms=None)
    both(folder, "bm25", 0, 0.4, 0.4, ms=None, patches=0)
    return folder


PAPER_ENCODERS = ("vidore/colqwen2.5-v0.2", "nomic-ai/colnomic-embed-multimodal-3b")


def paper(folder):
    """Results as of experiments/paper.toml, with a few configurations: 2 encoders, 14 datasets, numbers by a rule.

    A method is as good as its size is large, AdaMerge 0.04 better; dataset by dataset everything is 0.01 worse.
    """
    names = [*dataset_names("vidore-v1"), *dataset_names("vidore-v2")]
    datasets(folder, *names)
    sizes = {"identity": 1000}
    for k, kept in (("-0.25", 500), ("0.25", 300), ("1", 100)):
        sizes[f"docpruner:k={k}"] = kept
        for name in ("ptm", "ptm-attn"):
            for m in (2, 4):
                sizes[f"{name}:k={k},m={m}"] = kept // m
        for name in ("adamerge", "adamerge-mean"):
            sizes[f"{name}:k={k},c_min=0.7"] = 2 * kept // 3
            sizes[f"{name}:k={k},c_min=0.8"] = 3 * kept // 4
            sizes[f"gaussian({name}:k={k},c_min=0.7)"] = kept
    sizes |= {"sem-cluster:m=2": 500, "sem-cluster:m=4": 250}
    for encoder in PAPER_ENCODERS:
        for place, dataset in enumerate(names):
            for method, stored in sizes.items():
                value = 0.5 + 0.0002 * stored + 0.04 * method.startswith("adamerge") - 0.01 * place
                values = [value - 0.01, value, value, value + 0.01]
                theta = [0.8] * 9 + [0.9] if "adamerge" in method else ()
                if method.startswith("gaussian"):
                    values = ()
                cell(folder, method, stored, values, theta, encoder, dataset)
    return folder


def row(made, **wanted):
    """The only row of a table whose columns have these values, as a dictionary."""
    names = [column.name for column in made.columns]
    rows = [dict(zip(names, values, strict=True)) for values in made.rows]
    (found,) = (one for one in rows if wanted.items() <= one.items())
    return found
