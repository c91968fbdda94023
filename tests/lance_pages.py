"""Pages and queries for tests of the embedded store, also in processes of their own."""

import numpy as np

import adamerge as am

D = 16


def a_page(i, m=6, seed=3):
    vectors = np.random.default_rng([seed, i]).normal(size=(m, D)).astype(np.float32)
    return am.Compressed(vectors, np.arange(m, dtype=np.int32), method="identity", id=f"p{i:05d}")


def a_query(seed=0):
    return np.random.default_rng([9, seed]).normal(size=(5, D)).astype(np.float32)


def written(number):
    """What the write of some number puts in the place of one of 600 pages: its number tells which write it was."""
    return am.Entry(a_page(number % 600, 2 + number % 5, seed=number), number=number + 2)
