"""Small local folders in the schemas that ViDoRe has on the hub, with pictures for pages."""

import json
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import tiny


def image(seed):
    out = BytesIO()
    tiny.picture(120 + 10 * (seed % 3), 160, seed).save(out, "PNG")
    return {"bytes": out.getvalue(), "path": f"{seed}.png"}


def write(rows, folder, files=1):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        pq.write_table(
            pa.Table.from_pylist(rows[i::files]), folder / f"test-{i:05d}-of-{files:05d}.parquet"
        )


def flat(folder, pages=6):
    """ViDoRe v1: a query and the page that answers it in one row; two queries share a page, one row asks nothing."""
    rows = [
        {"query": f"what is the revenue in {i}?", "image": image(i), "image_filename": f"{i}.png"}
        for i in range(pages)
    ]
    rows.append({"query": "what is the image?", "image": image(0), "image_filename": "0.png"})
    rows.append({"query": None, "image": image(99), "image_filename": "99.png"})
    write(rows, folder / "data", files=2)
    return folder


def beir(folder, pages=6, languages=("english", "french")):
    """ViDoRe v2: corpus, queries in several languages, graded judgements, whole numbers for ids."""
    write([{"corpus-id": i, "image": image(i)} for i in range(pages)], folder / "corpus", files=2)
    asked = [(i, language) for i, language in enumerate(languages * 3)]
    write(
        [{"query-id": i, "query": f"revenue {i} in {lang}", "language": lang} for i, lang in asked],
        folder / "queries",
    )
    grades = [
        {"query-id": i, "corpus-id": (i + j) % pages, "score": 2 - j}
        for i, _ in asked
        for j in range(3)
    ]
    write(grades, folder / "qrels")
    return folder


def by_language(folder, pages=5, languages=("english", "french")):
    """ViDoRe v3 as mteb has it: the three parts once per language, with the text of each page."""
    for language in languages:
        corpus = [
            {"id": f"p{i}", "image": image(i), "markdown": f"# Revenue of {2000 + i}"}
            for i in range(pages)
        ]
        write(corpus, folder / f"{language}-corpus")
        write(
            [{"id": f"q{i}", "text": f"{language} revenue {2000 + i}"} for i in range(4)],
            folder / f"{language}-queries",
        )
        grades = [
            {"query-id": f"q{i}", "corpus-id": f"p{i}", "score": 1} for i in range(3)
        ]  # nobody judged the fourth
        write(grades, folder / f"{language}-qrels")
    return folder


def as_repository(folder):
    """The same folder as the hub would hold it: a card that names its parts, and images marked as such."""
    parts = []
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(path)
        if "image" in table.column_names:
            rest = {
                n: {"dtype": str(table.schema.field(n).type), "_type": "Value"}
                for n in table.column_names
            }
            features = rest | {"image": {"_type": "Image"}}
            table = table.replace_schema_metadata(
                {"huggingface": json.dumps({"info": {"features": features}})}
            )
            pq.write_table(table, path)
        parts.append(path.parent.relative_to(folder).as_posix())
    cards = (
        f"- config_name: {p}\n  data_files:\n  - split: test\n    path: {p}/test-*"
        for p in dict.fromkeys(parts)
    )
    (folder / "README.md").write_text("---\nconfigs:\n" + "\n".join(cards) + "\n---\n")
    return folder
