"""Integers of functions wrap around at every operation, as in NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import evaluate

from warpproof.trace import Untraceable
from warpproof.trace.numpy import trace

ONE = np.uint32(1)
FUNCTIONS = [
    ("u8", lambda x, y: (x + y) // np.uint8(2)), ("u8", lambda x, y: (x + y) / 2), ("u8", lambda x, y: np.where(x - y > 0, 1, 0)),
    ("s8", lambda x, y: (x * x).astype(np.float32)), ("s32", lambda x, y: (x * x) // 3), ("s32", lambda x, y: np.maximum(x + y, 0)),
    ("s32", lambda x, y: np.where(x + 1 > x, 1, 0)), ("s32", lambda x, y: (x * x).astype(np.float64)), ("u32", lambda x, y: np.where(x - ONE > x, 1, 0)),
    ("u32", lambda x, y: (x - ONE).astype(np.float64)), ("s8", lambda x, y: abs(x) // 2), ("s8", lambda x, y: (-x).astype(np.int32)), ("s32", lambda x, y: x.astype(np.int8).astype(np.int64)),
    ("u8", lambda x, y: (x.astype(np.int32) - y) // 2), ("u8", lambda x, y: (x * y).astype(np.int32) + x), ("s8", lambda x, y: np.sum(x * y, dtype=np.int8) // 3 + 0 * x),
    ("s32", lambda x, y: np.max(x + y) // 2 + 0 * x), ("s8", lambda x, y: np.minimum(x, y) // 2), ("u8", lambda x, y: np.dot(x, y) // np.uint8(3) + 0 * x),
]  # fmt: skip


class Spec:
    def __init__(self, dtype):
        self.shape, self.dtype = (5,), dtype


def contents(dtype):
    kind = np.dtype({"u8": np.uint8, "s8": np.int8, "s32": np.int32, "u32": np.uint32}[dtype])
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return np.array([low, high, high - 1, 100, 3], kind), np.array([high, high, 17, low, 5], kind)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype, function", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_what_numpy_computes(dtype, function):
    x, y = contents(dtype)
    traced = trace(function, Spec(dtype), Spec(dtype), names=["x", "y"])
    want = function(x, y)
    got = evaluate(traced.formula, {"x": x.astype(np.int64), "y": y.astype(np.int64)}, {n: s for n, _, s in traced.outputs})
    (found,) = got.values()
    if not traced.loose:
        np.testing.assert_allclose(np.array(found, dtype=np.float64), want.astype(np.float64))
    else:
        kept = np.array([int(v) % (1 << 8 * want.itemsize) for v in np.ravel(found)], object)
        assert list(kept) == [int(v) % (1 << 8 * want.itemsize) for v in want.ravel()]


def test_a_store_keeps_the_low_bits():
    traced = trace(lambda x, y: x * y + x - y, Spec("s32"), Spec("s32"), names=["x", "y"])
    assert "%" not in traced.formula and list(traced.loose) == [traced.outputs[0][0]]
    name = traced.outputs[0][0]
    assert traced.stored_as(name, "s32") == traced.stored_as(name, "u8") == ""
    assert "wraps around" in traced.stored_as(name, "s64") and "wraps around" in traced.stored_as(name, "f32")


def test_unsigned_integers_of_64_bits_are_refused():
    with pytest.raises(Untraceable, match="outside of u64"):
        trace(lambda x: (x - np.uint64(1)) // np.uint64(2), Spec("u64"), names=["x"])
