"""Stores of every kind for the tests of what they share.

Qdrant runs in the client's local mode; with ADAMERGE_QDRANT_URL in the environment, on that server.
"""

import os
from uuid import uuid4

import numpy as np
import pytest
from later import needs_qdrant

import adamerge as am

D = 8
ENCODER = {"name": "test", "revision": "1", "dpi": 150}


@pytest.fixture(params=["lance", pytest.param("qdrant", marks=needs_qdrant)])
def opened(request, tmp_path):
    """A function that opens the same store again."""
    if request.param == "lance":
        yield lambda **options: am.open_store(tmp_path / "store", **options)
        return
    from qdrant_client import QdrantClient  # not every test needs a database

    from adamerge.store.qdrant.store import QdrantStore

    url = os.environ.get("ADAMERGE_QDRANT_URL")
    client = QdrantClient(url=url) if url else QdrantClient(":memory:")
    name = f"test-{uuid4()}"
    yield lambda **options: QdrantStore(client, name, **options)
    client.delete_collection(name)
    client.close()


@pytest.fixture
def store(opened):
    with opened(encoder=ENCODER) as store:
        yield store


def a_page(i, m=None, method="sem-cluster:m=2", **fields):
    """A compressed page; its number of vectors differs from that of the next."""
    rng = np.random.default_rng([5, i])
    n = 2 * (m or 1 + i % 7)
    return am.compress(am.MultiVector(rng.normal(size=(n, D)), id=f"p{i}", **fields), method=method)


def an_entry(i, **fields):
    return am.Entry(a_page(i), source=f"file{i % 3}.pdf", number=i, **fields)


def a_query(seed=0, q=4):
    return np.random.default_rng([9, seed]).normal(size=(q, D)).astype(np.float32)
