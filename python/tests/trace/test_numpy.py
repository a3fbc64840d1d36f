"""Traced NumPy functions against NumPy itself, and the messages for functions that cannot be traced."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from evaluate import evaluate
from warpproof.trace import Untraceable, trace

R = np.random.default_rng(7)


class Spec:
    def __init__(self, dtype, *shape):
        self.dtype, self.shape = dtype, shape


def random(spec):
    if spec.dtype == "bool":
        return R.random(spec.shape) > 0.5
    if spec.dtype[0] in "su":
        return R.integers(0, 4, spec.shape)
    return R.normal(size=spec.shape)


def agree(function, *specs):
    traced = trace(function, *specs, frontend="numpy")
    given = [random(s) for s in specs]
    values = dict(traced.contents)
    free = [n for n, _, _ in traced.inputs if n not in traced.contents]
    values.update(zip(free, given))
    want = function(*(g.copy() for g in given))
    wants = list(want.values()) if isinstance(want, dict) else list(want) if isinstance(want, (tuple, list)) else [want]
    got = evaluate(traced.formula, values, {n: s for n, _, s in traced.outputs})
    assert len(wants) == len(traced.outputs)
    for (name, dtype, shape), expected in zip(traced.outputs, wants):
        expected = np.asarray(expected)
        assert shape == expected.shape
        assert dtype[0] == {"f": "f", "i": "s", "b": "b", "u": "u"}[expected.dtype.kind]
        np.testing.assert_allclose(got[name], expected, rtol=1e-10, atol=1e-10, err_msg=traced.formula)
    return traced


f = lambda *shape: Spec("f64", *shape)  # noqa: E731
s = lambda *shape: Spec("s64", *shape)  # noqa: E731


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, g, b):
    m = np.mean(x, axis=-1, keepdims=True)
    v = np.var(x, axis=-1, keepdims=True)
    return (x - m) / np.sqrt(v + 1e-5) * g + b


def causal(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(q.shape[0]) > 0, scores, -np.inf)
    return softmax_plain(scores) @ v


def softmax_plain(x):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


def convolution(x, k):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.einsum("nchwrs,fcrs->nfhw", sliding_window_view(padded, (3, 3), axis=(2, 3)), k)


def rope(x):
    half = x.shape[-1] // 2
    angles = np.outer(np.arange(x.shape[0]), 1.0 / 10000 ** (np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1)


def loops(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total = total + x[i, j]
            out[i, j] = total
    return out


def views(x):
    y = x.copy()
    row = y[1]
    row[:] = 0
    y[0] += 2
    y[:, ::2] *= 3
    z = y.T
    y[2, 1] = 7
    return z + row[0]


def masks(x):
    y = x.copy()
    y[y < 0] = 0
    y[:, -1] = np.maximum(x[:, 0], 0.5)
    return y


FUNCTIONS = [
    (softmax, f(3, 5)), (layer_norm, f(3, 5), f(5), f(5)), (causal, f(5, 4), f(5, 4), f(5, 3)), (convolution, f(2, 3, 5, 4), f(4, 3, 3, 3)),
    (rope, f(3, 8)), (loops, f(3, 4)), (views, f(3, 4)), (masks, f(3, 4)), (lambda a, b: a @ b, f(3, 4), f(4, 5)), (lambda a, b: a @ b, f(2, 3, 4), f(4, 5)),
    (lambda a, b: np.einsum("ij,jk->ik", a, b), f(3, 4), f(4, 5)), (lambda a, b: np.einsum("...ij,...jk", a, b), f(2, 3, 4), f(2, 4, 5)), (lambda a: np.einsum("ii->i", a), f(4, 4)),
    (lambda a: np.einsum("ij->", a), f(4, 3)), (lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c), f(2, 3), f(3, 4), f(4, 5)), (lambda a: np.einsum("ij->ji", a), f(3, 4)),
    (lambda x: np.cumsum(x, 1), f(3, 4)), (lambda x: np.cumsum(x), f(3, 4)), (lambda x: np.maximum.accumulate(x, axis=1), f(3, 4)), (lambda x: np.add.reduce(x), f(3, 4)),
    (lambda x: np.concatenate([x, 2 * x, np.ones((2, 4))]), f(3, 4)), (lambda x: np.stack([x, -x], 1), f(3, 4)), (lambda x: np.hstack([x, x]), f(3, 4)), (lambda x: np.vstack([x, x[0]]), f(3, 4)),
    (lambda x, t: x[np.arange(3), t], f(3, 4), s(3)), (lambda x, t: x[t], f(4, 3), s(2, 5)), (lambda x: x[[2, 0, 0]], f(3, 4)), (lambda x: x[:, [1, -1]], f(3, 4)), (lambda x: x[0, :, [1, 2]], f(3, 4, 5)),
    (lambda x: x[np.array([True, False, True])], f(3, 4)), (lambda x: x[..., None, 1:, ::-1], f(2, 3, 4)), (lambda x: x[-1], f(3, 4)), (lambda x: x[::-2, 1], f(5, 4)), (lambda x, t: np.take_along_axis(x, t, 1), f(3, 4), s(3, 2)),
    (lambda x: (x.mean(), x.std(0), x.var(1, ddof=1)), f(3, 4)), (lambda x: {"low": x.min(1), "high": x.max(axis=(0, 1))}, f(3, 4)), (lambda x: (x.argmax(), x.argmin(1)), f(3, 4)), (lambda x: (x > 0).sum(0), f(3, 4)),
    (lambda x: ((x > 0).any(1), (x > 0).all()), f(3, 4)), (lambda x: x.prod(1), f(3, 4)), (lambda x: np.linalg.norm(x, axis=1), f(3, 4)), (lambda x: np.linalg.norm(x), f(3, 4)), (lambda x: np.clip(x, -0.5, 0.5), f(3, 4)), (lambda x: x.clip(0), f(3, 4)),
    (lambda x: x.reshape(2, 6).T.reshape(-1)[3:], f(3, 4)), (lambda x: np.moveaxis(x, 0, -1), f(2, 3, 4)), (lambda x: x.transpose(1, 2, 0).swapaxes(0, 1), f(2, 3, 4)), (lambda x: np.squeeze(x[:, :1]), f(3, 4)), (lambda x: np.expand_dims(x, (0, 2)), f(3, 4)),
    (lambda x: np.tile(x, (2, 2)), f(3, 4)), (lambda x: np.repeat(x, 2, 1), f(3, 4)), (lambda x: np.roll(x, 1, 0), f(3, 4)), (lambda x: np.flip(x), f(3, 4)), (lambda x: np.tril(x) - np.triu(x, 1), f(4, 4)), (lambda x: np.diag(x), f(4, 4)), (lambda x: np.diag(x, 1), f(3)), (lambda x: np.trace(x), f(4, 4)),
    (lambda x: np.pad(x, 1, mode="edge"), f(3, 4)), (lambda x: np.pad(x, ((2, 1), (0, 2)), mode="reflect"), f(3, 4)), (lambda x: np.pad(x, (1, 2), mode="wrap"), f(5)), (lambda x: np.pad(x, 1, constant_values=2), f(3)), (lambda x, v: np.convolve(x, v), f(6), f(3)),
    (lambda x, v: np.convolve(x, v, "same"), f(6), f(3)), (lambda x, v: np.convolve(x, v, "same"), f(6), f(4)), (lambda x, v: np.convolve(x, v, "valid"), f(6), f(3)), (lambda a, b: np.tensordot(a, b, 1), f(3, 4), f(4, 2)), (lambda a, b: np.inner(a, b), f(3, 4), f(2, 4)), (lambda a, b: np.outer(a, b), f(3), f(4)),
    (lambda a, b: np.dot(a, b), f(4), f(4)), (lambda a, b: np.multiply.outer(a, b), f(3), f(4)), (lambda x: np.split(x, 2, 1), f(3, 4)), (lambda x: np.array_split(x, [1, 3]), f(5)), (lambda x: 1 / (1 + np.exp(-x)), f(3)), (lambda x: x**2 + x**-1 + 2**x, f(3)), (lambda x: x % 0.7 + x // 0.7, f(3)), (lambda x: np.sqrt(np.abs(x)) ** 3, f(3)),
    (lambda i: i * 2 + 1, s(3)), (lambda i: i // 2 - i % 3, s(3)), (lambda i: i / 2, s(3)), (lambda i: i.sum(), s(3)), (lambda x: (x * 3).astype(np.int64), f(3)), (lambda i: i.astype(float) * 0.5, s(3)), (lambda x: np.where(x > 0, x, 0), f(3)), (lambda x: np.where(np.arange(4) < 2, x, -x), f(3, 4)), (lambda x: x * np.arange(4), f(3, 4)),
    (lambda x: x + np.array([0.5, 1.5, 2.25]), f(2, 3)), (lambda x: sum(x[i] * i for i in range(3)), f(3)), (lambda x: np.array([0.1], dtype=np.float64) * x, f(3)), (lambda x: np.diff(x), f(5)), (lambda x: np.average(x, axis=0), f(3, 4)), (lambda x, w: np.average(x, weights=w * w), f(3), f(3)), (lambda x: np.full_like(x, 3) - x, f(3)), (lambda x: x.flatten().dot(x.ravel()), f(3, 4)),
    (lambda x: np.sign(x) * np.floor(x) + np.ceil(x), f(5)), (lambda x: np.broadcast_to(x, (2, 3)) + 1, f(3)), (lambda x: np.heaviside(x, 0.5), f(4)), (lambda x: np.logaddexp(x, 1), f(4)), (lambda a, b: a & ~b | (a ^ b), Spec("bool", 4), Spec("bool", 4)), (lambda x: np.isnan(x), f(3)), (lambda x: np.zeros((2, 2)), f(3)), (lambda x: [row.sum() for row in x], f(3, 4)),
    (lambda x: np.stack([row[::-1] for row in x]), f(3, 4)), (lambda a, b: np.vecdot(a, b) if hasattr(np, "vecdot") else (a * b).sum(-1), f(3, 4), f(3, 4)), (lambda x: np.minimum.reduce(x, axis=(0, 1)), f(3, 4)), (lambda x: x.sum(axis=()), f(3)), (lambda x: np.concatenate([x, x[:0]]), f(3)), (lambda x: x.reshape(3, 0).sum(1), f(3, 0)),
]  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_function(case):
    agree(*case)


def test_texts():
    assert trace(lambda x: x * 1e-5, f(3), frontend="numpy").formula == "y[i] = x[i]*1e-5"
    assert trace(lambda A, B: A @ B, f(3, 4), f(4, 5), outputs=["C"]).formula == "C[i,j] = sum(k in 0..4, A[i,k]*B[k,j])"
    assert trace(lambda x: x.reshape(6).reshape(2, 3).T, f(2, 3)).formula == "y[i,j] = x[j,i]"
    assert trace(lambda i: np.ones(3) + i, f(3)).formula == "y[j] = 1 + i[j]"


def test_lines():
    def g(x):
        total = x.sum()
        return x / total

    assert trace(g, f(3)).lines == {"sum_1": f"{__file__}:{g.__code__.co_firstlineno + 1}"}


def branches(x):
    return x if x[0] > 0 else -x


def plain(x):
    return np.asarray(x) + 1


def into_plain(x):
    y = np.zeros(3)
    y[0] = x[0]
    return y


def changes(x):
    x[0] = 1
    return x


def reshaped_then_changed(x):
    y = x.copy()
    z = y.reshape(-1)
    y[0] = 1
    return z


def plain_math(x):
    import math

    return math.sqrt(x[0])


REFUSED = [
    (branches, "np.where"), (plain, "np.asarray"), (into_plain, "zeros_like"), (changes, "copy"), (lambda x: np.sort(x), "sort"), (lambda x: x[x > 0], "np.where"), (lambda x: np.nonzero(x), "nonzero"), (reshaped_then_changed, "copy"), (plain_math, "NumPy, not of math"),
    (lambda x: np.arctan(x), "not traced"), (lambda x: x**x, "power"), (lambda x: np.empty_like(x), "zeros_like"), (lambda x: [1, 2, 3][x[0].astype(int)], "contents"), (lambda x: None, "nothing"), (lambda x: np.add(x, 1, out=np.zeros(3)), "zeros_like"), (lambda x: x[:0].max(), "empty"), (lambda x: np.round(x), "not traced"),
    (lambda x: x.T.__setitem__(0, 1), "transposed view"),
]  # fmt: skip


@pytest.mark.parametrize("function, words", REFUSED, ids=range(len(REFUSED)))
def test_refused(function, words):
    with pytest.raises(TypeError, match=words):
        trace(function, f(3), frontend="numpy")


def test_refusal_names_the_line():
    with pytest.raises(Untraceable) as error:
        trace(branches, f(3), frontend="numpy")
    assert error.value.line == f"{__file__}:{branches.__code__.co_firstlineno + 1}"


def test_names_to_avoid():
    assert trace(lambda x: x.T, f(3, 4), avoid=["i", "k", "x"]).formula == "y[j,l] = x[l,j]"
