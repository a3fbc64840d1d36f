"""The evaluator of the tests against NumPy: the examples of the manual, and the rules."""

from __future__ import annotations

import numpy as np
import pytest

from evaluate import evaluate
from grammar import Mistake

R = np.random.default_rng(1)


def r(*shape):
    return R.normal(size=shape)


def erf(x):
    import math

    return np.vectorize(math.erf)(x)


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def attention_inputs():
    return {"Q": r(2, 5, 64), "K": r(2, 5, 64), "V": r(2, 5, 3)}


def conv(x, k):
    from numpy.lib.stride_tricks import sliding_window_view

    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.einsum("nchwrs,fcrs->nfhw", sliding_window_view(padded, (3, 3), axis=(2, 3)), k)


def pool(x, f, pad, value):
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=value)
    size = 3 if pad else 2
    from numpy.lib.stride_tricks import sliding_window_view

    return f(sliding_window_view(padded, (size, size), axis=(2, 3))[:, :, ::2, ::2], (-1, -2))


def rope(x, a):
    half = np.concatenate([-x[:, 32:], x[:, :32]], 1)
    return x * np.cos(a) + half * np.sin(a)


def group(x):
    g = x.reshape(2, 3, 2, 5)
    m, v = g.mean((2, 3), keepdims=True), g.var((2, 3), keepdims=True)
    return ((g - m) / np.sqrt(v + 1e-5)).reshape(x.shape)


ATTENTION = "let s[h,i,j] = sum(d, Q[h,i,d]*K[h,j,d]) / sqrt(64); let p[h,i,j] = exp(s[h,i,j]) / sum(l, exp(s[h,i,l]))\nO[h,i,d] = sum(j, p[h,i,j]*V[h,j,d])"
LAYER_NORM = "let m[i] = mean(k, x[i,k]); let v[i] = mean(k, (x[i,k] - m[i])^2)\ny[i,j] = (x[i,j] - m[i]) * rsqrt(v[i] + eps) * g[j] + b[j]"
GROUP_NORM = "let m[n,g in 0..3] = mean(c in 0..2, i, x[n,2*g+c,i]); let v[n,g in 0..3] = mean(c in 0..2, i, (x[n,2*g+c,i] - m[n,g])^2)\ny[n,c,i] = (x[n,c,i] - m[n,c//2]) * rsqrt(v[n,c//2] + 1e-5)"
ROPE = "y[p,d] = x[p,d]*cos(a[p,d]) - x[p,d+32 else 0]*sin(a[p,d]) if d < 32 else x[p,d]*cos(a[p,d]) + x[p,d-32]*sin(a[p,d])"
CAUSAL = "O[i,d] = sum(j in 0..i+1, exp(s[i,j])*V[j,d]) / sum(j in 0..i+1, exp(s[i,j]))"

EXAMPLES = [
    ("y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))", {"x": r(3, 5)}, lambda x: softmax(x)),
    ("C[i,j] = sum(k, A[i,k]*B[k,j])", {"A": r(3, 4), "B": r(4, 5)}, lambda A, B: A @ B),
    ("y[i,j] = relu(sum(k, A[i,k]*B[k,j]) + b[j])", {"A": r(3, 4), "B": r(4, 5), "b": r(5)}, lambda A, B, b: np.maximum(A @ B + b, 0)),
    (ATTENTION, attention_inputs(), lambda Q, K, V: softmax(np.einsum("hid,hjd->hij", Q, K) / 8) @ V),
    (CAUSAL, {"s": r(5, 5), "V": r(5, 3)}, lambda s, V: softmax(np.where(np.tri(5) > 0, s, -np.inf)) @ V),
    (LAYER_NORM, {"x": r(3, 5), "eps": 1e-5, "g": r(5), "b": r(5)}, lambda x, eps, g, b: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * g + b),
    ("y[i,j] = x[i,j] * rsqrt(mean(k, x[i,k]^2) + 1e-6) * g[j]", {"x": r(3, 5), "g": r(5)}, lambda x, g: x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * g),
    (GROUP_NORM, {"x": r(2, 6, 5)}, group),
    ("y[n,f,h,w] = sum(c, r, s, x[n,c,h+r-1,w+s-1 else 0] * k[f,c,r,s])", {"x": r(2, 3, 5, 6), "k": r(4, 3, 3, 3)}, conv),
    ("y[n,c,h,w] = max(r in 0..3, s in 0..3, x[n,c,2*h+r-1,2*w+s-1 else -inf])", {"x": r(2, 3, 5, 5)}, lambda x: pool(x, np.max, 1, -np.inf)),
    ("y[n,c,h,w] = mean(r in 0..2, s in 0..2, x[n,c,2*h+r,2*w+s])", {"x": r(2, 3, 4, 6)}, lambda x: pool(x, np.mean, 0, 0)),
    ("y[i,j] = sum(k in 0..j+1, x[i,k])", {"x": r(3, 5)}, lambda x: np.cumsum(x, 1)),
    ("loss = mean(i, log(sum(k, exp(x[i,k]))) - x[i,t[i]])", {"x": r(4, 5), "t": np.array([0, 4, 2, 2])}, lambda x, t: -np.log(softmax(x))[range(4), t].mean()),
    (ROPE, {"x": r(3, 64), "a": r(3, 64)}, rope),
    ("y[i,j] = x[i,j]/2 * (1 + erf(x[i,j]/sqrt(2)))", {"x": r(3, 5)}, lambda x: x / 2 * (1 + erf(x / np.sqrt(2)))),
    ("let u[i,j] = sqrt(2/pi)*(x[i,j] + 0.044715*x[i,j]^3); y[i,j] = x[i,j]/2*(1 + tanh(u[i,j]))", {"x": r(3, 5)}, lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    ("let g[i,j] = sum(k, x[i,k]*U[k,j]); y[i,j] = g[i,j]*sigmoid(g[i,j]) * sum(k, x[i,k]*W[k,j])", {"x": r(3, 4), "U": r(4, 5), "W": r(4, 5)}, lambda x, U, W: (x @ U) * sigmoid(x @ U) * (x @ W)),
    ("y[j,i] = x[i,j]", {"x": r(3, 5)}, lambda x: x.T),
    ("y[i] = argmax(k, x[i,k])", {"x": r(3, 5)}, lambda x: x.argmax(1)),
    ("y[i,j] = x[i,j] if all(k, x[i,k] <= x[i,j]) else 0", {"x": r(3, 5)}, lambda x: np.where(x == x.max(1, keepdims=True), x, 0)),
    ("y[i] = sum(k, x[i,k] if mask[i,k] > 0)", {"x": r(3, 5), "mask": r(3, 5)}, lambda x, mask: np.where(mask > 0, x, 0).sum(1)),
]  # fmt: skip


@pytest.mark.parametrize("text, inputs, expected", EXAMPLES, ids=[e[0][:30] for e in EXAMPLES])
def test_example(text, inputs, expected):
    want = expected(**inputs)
    name = "loss" if text.startswith("loss") else "O" if "O[" in text else "C" if "C[" in text else "y"
    got = evaluate(text, inputs, {name: np.shape(want)})[name]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_two_outputs():
    x = r(6)
    got = evaluate("m = sum(i, x[i])/6; v = sum(i, (x[i] - m)^2)/6", {"x": x})
    np.testing.assert_allclose([got["m"], got["v"]], [x.mean(), x.var()])


@pytest.mark.parametrize(
    "text",
    [
        "y[i,j] = sum(k, A[i,k]*B[j,k])",
        "y[i,j] = sum(A[i,k]*B[k,j])",
        "y[i,j] = sum(k, 0, 4, A[i,k])",
        "y[i] = x[i+1] - x[i]",
        "y[i] = x[i-2] if i > 0 else 0",
        "y[i,j] = sum(j, A[i,j])",
        "y[i] = x / 2",
        "y[i] = A[i]",
        "y[i] == x[i]",
        "y[i] = x[i]**2",
        "y[i,j] = softmax(A[i,j])",
        "y[i] = sum(k, x[i+k])",
        "y[i] = x[i] if x[i] > 0",
        "y[i] = w[i]",
        "y[x] = x[x]",
        "y[i] = max(k in 0..i, x[k])",
        "y[i] = x[i] > 0",
        "y[i] = x[x[i]]",
        "let x[i in 0..3] = 0; y[i] = x[i]",
    ],
)
def test_mistake(text):
    shapes = {"y": (3, 2)} if text.startswith("y[i,j]") else {"y": (3,)}
    with pytest.raises(Mistake):
        evaluate(text, {"x": r(3), "A": r(3, 4), "B": r(2, 2)}, shapes)


def test_conditions_are_lazy_and_chunks_agree(monkeypatch):
    import evaluate as module

    x = r(7, 9)
    text = "y[i,j] = x[i,j-1]*2 if 0 < j < 9 else sum(k, x[i,k]*x[i,k])"
    whole = evaluate(text, {"x": x}, {"y": (7, 9)})["y"]
    monkeypatch.setattr(module, "CAP", 5)
    np.testing.assert_allclose(evaluate(text, {"x": x}, {"y": (7, 9)})["y"], whole)
    np.testing.assert_allclose(whole[:, 0], (x**2).sum(1))
