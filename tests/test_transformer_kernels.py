"""The kernels of a transformer's forward pass against their slow twins, on every instruction set of this machine."""

import numpy as np
import pytest

from adamerge.kernels import _native, reference

every_isa = pytest.mark.parametrize("isa", _native.instruction_sets())


@every_isa
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (4, 16), (9, 37), (5, 384), (2, 1536)])
def test_the_rows_of_a_transformer_are_what_their_twins_give(isa, shape):
    rng = np.random.default_rng(shape)
    x, residual = (6 * rng.normal(size=shape).astype(np.float32) for _ in range(2))
    bias, weight, shift = (rng.normal(size=shape[1]).astype(np.float32) for _ in range(3))
    calls = {
        "softmax": (0.3,),
        "gelu": (bias,),
        "layer_norm": (residual, bias, weight, shift, 1e-12),
    }
    for name, options in calls.items():
        fast, slow = x.copy(), x.copy()
        getattr(_native, name)(fast, *options, isa=isa)
        getattr(reference, name)(slow, *options)
        np.testing.assert_allclose(fast, slow, atol=4e-6, err_msg=name)


@every_isa
def test_softmax_holds_for_huge_and_tiny_scores(isa):
    scores = np.array([[-1e30, 0, 1e30], [-200, -100, 0], [5, 5, 5]], np.float32)
    _native.softmax(scores, 1.0, isa=isa)
    np.testing.assert_allclose(scores, [[0, 0, 1], [0, 0, 1], [1 / 3] * 3], atol=1e-7)


def test_kernels_that_write_over_rows_refuse_arrays_that_do_not_fit():
    x, bias = np.zeros((2, 3), np.float32), np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"x \(rows, n\), bias \(n,\)"):
        _native.gelu(x, bias)
    with pytest.raises(ValueError, match=r"bias, weight and shift \(d,\)"):
        _native.layer_norm(x, x, bias, bias, bias, 1e-12)
    with pytest.raises(TypeError):  # a copy would be written, and the caller would not see it
        _native.softmax(x.astype(np.float64), 1.0)


@every_isa
@pytest.mark.parametrize("size", [(1, 1, 1), (5, 3, 7), (12, 32, 16), (13, 33, 40), (40, 65, 130)])
def test_matrix_products_are_those_of_numpy(isa, size):
    n, m, k = size
    rng = np.random.default_rng(size)
    a, b = (rng.normal(size=(2, rows, k)).astype(np.float32) for rows in (n, m))
    want = a.astype(np.float64) @ b.transpose(0, 2, 1)
    np.testing.assert_allclose(_native.matmul_batch(a, b, isa=isa), want, atol=1e-4)
    np.testing.assert_allclose(reference.matmul_batch(a, b), want, atol=1e-5)
    packed = _native.pack(b[0], isa=isa)
    fast = _native.matmul_packed(a[0], packed, m, isa=isa)
    slow = reference.matmul_packed(a[0], reference.pack(b[0]), m)
    np.testing.assert_allclose(fast, want[0], atol=1e-4)
    np.testing.assert_allclose(slow, want[0], atol=1e-5)


def test_products_refuse_matrices_that_do_not_fit():
    a, b = np.zeros((2, 3), np.float32), np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match="packed for the same instruction set"):
        _native.matmul_packed(a, _native.pack(b), 400)
    with pytest.raises(ValueError, match=r"b \(batch, m, k\)"):
        _native.matmul_batch(a[None], np.zeros((1, 4, 5), np.float32))
