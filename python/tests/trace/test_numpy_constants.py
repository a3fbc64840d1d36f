"""NumPy functions with arrays of their own: exact in the formula, or inputs with contents. Proofs need the built
package.
"""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import evaluate

from warpproof.trace.numpy import trace


class Spec:
    def __init__(self, *shape, dtype="f32"):
        self.shape, self.dtype = shape, dtype


WEIGHTS = np.array([[0.5, -1.25, 3.0], [2.0, 0.1, 7.5]])
TABLE = np.array([3, 1, 2, 0])
MASK = np.tri(5, dtype=bool)
WINDOW = np.hanning(6)


def by_closure():
    scale = np.array([1.5, 2.5, 1 / 3, 0.1, 5.0])
    return lambda x: x * scale


FUNCTIONS = [
    (lambda x: np.arange(8) * x, (8,)),
    (lambda x: x * np.arange(1, 16, 2), (8,)),
    (lambda x: np.arange(0.0, 1.0, 0.25) + x, (4,)),
    (lambda x: np.linspace(0, 1, 5) * x, (5,)),
    (lambda x: np.eye(5) @ x, (5, 3)),
    (lambda x: np.eye(5, k=1) @ x, (5, 3)),
    (lambda x: x @ WEIGHTS.T, (4, 3)),
    (lambda x: WEIGHTS @ x, (3, 4)),
    (by_closure(), (2, 5)),
    (lambda x: np.tri(5) * x, (5, 5)),
    (lambda x: np.where(MASK, x, 0.0), (5, 5)),
    (lambda x: np.where(np.triu(np.ones((5, 5)), 1) > 0, -1e9, x), (5, 5)),
    (lambda x: np.tril(np.ones((5, 5)), -1) @ x, (5, 2)),
    (lambda x: x[TABLE], (4, 3)),
    (lambda x: x * WINDOW, (3, 6)),
    (lambda x: np.convolve(np.array([1.0, 2.0, 1.0]) / 4, np.ones(1))[0] * x, (4,)),
    (lambda x: np.outer(np.array([1.0, -2.0]), x), (3,)),
    (lambda x: np.einsum("ij,kj->ki", WEIGHTS, x), (4, 3)),
    (lambda x: np.dot(WEIGHTS[0], x), (3, 4)),
    (lambda x: np.array([[0, 1], [1, 0]]) @ x, (2, 5)),
    (lambda x: x - np.array([1e-3, 1e-7, 0.3]), (2, 3)),
    (lambda x: np.concatenate([x, np.array([1.0, 2.0])]), (3,)),
    (lambda x: np.full((3, 4), 0.7) + x, (4,)),
]


@pytest.mark.parametrize("function, shape", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_arrays_of_a_function(function, shape):
    traced = trace(function, Spec(*shape, dtype="f64"))
    x = np.random.default_rng(3).standard_normal(shape)
    values = {name: np.array(traced.contents[name]) for name, _, _ in traced.inputs if name in traced.contents}
    got = evaluate(traced.formula, {"x": x, **values}, {name: extents for name, _, extents in traced.outputs})["y"]
    np.testing.assert_allclose(got, function(x), rtol=1e-12, atol=1e-12)


def test_short_arrays_mean_the_decimals_that_they_show():
    scale = np.array([[0.5, 0.1], [1 / 3, -2.0]])
    traced = trace(lambda x: x * scale, Spec(2, 2, dtype="f64"))
    table = "0.5 if i == 0 and j == 0 else 0.1 if i == 0 and j == 1 else 1/3 if i == 1 and j == 0 else -2"
    assert traced.formula == f"let constant[i in 0..2, j in 0..2] = {table}\ny[i,j] = x[i,j]*constant[i,j]"
    assert not traced.contents
    assert trace(lambda x: x * scale.astype(np.float32), Spec(2, 2)).contents


@pytest.mark.parametrize("function, shape", [FUNCTIONS[0], FUNCTIONS[1], FUNCTIONS[4], FUNCTIONS[9], FUNCTIONS[10], FUNCTIONS[12]])
def test_those_with_a_pattern_are_expressions(function, shape):
    assert not trace(function, Spec(*shape)).contents
