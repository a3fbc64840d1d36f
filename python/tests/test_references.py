"""References that are not kernels: formulas, and functions of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import warpproof as wp

from test_commands import ARGUMENTS, COPY
from test_report import SMALL

SOFTMAX = "y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))"


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_a_formula_is_a_reference(example):
    online = wp.ptx(example("online.ptx"))[4, 64](**ARGUMENTS)
    assert wp.equiv(SOFTMAX, online).proved
    assert online.equiv(SOFTMAX).proved and wp.verify(SOFTMAX, online).proved
    wrong = wp.equiv(SOFTMAX.replace("x[i,k]", "2*x[i,k]"), online)
    assert wrong.refuted and wrong.counterexample.confirmed


def test_the_counterexample_to_a_formula_runs_again(example):
    report = wp.equiv(SOFTMAX, wp.ptx(example("broken.ptx"))[1, 2], **SMALL)
    found = report.counterexample
    x = found.inputs["x"].astype("f8")
    assert found.reference == pytest.approx((np.exp(x) / np.exp(x).sum())[found.element[1]])
    assert found.replay()["y"][found.element[1]] == pytest.approx(found.got, rel=1e-6)


def test_mistakes_in_formulas_are_usage_errors(example):
    online = wp.ptx(example("online.ptx"))[4, 64](**ARGUMENTS)
    for formula, message in [("z[i,j] = x[i,j]", "`y`"), ("y[i,j] = w[i,j]", "`w`"), ("y[i,j] = x[i]", "`x`")]:
        with pytest.raises(wp.UsageError, match=message):
            wp.equiv(formula, online)


def test_a_function_is_a_reference(example):
    online = wp.ptx(example("online.ptx"))[4, 64](**ARGUMENTS)
    report = wp.verify(softmax, online)
    assert report.proved, report
    assert "exp(" in report.formula
    assert wp.verify(lambda x: np.exp(x), online).refuted
    # Parameters with other names match the kernel's inputs in order.
    assert wp.verify(lambda a: softmax(a), online).proved


def test_constants_of_a_function_are_known():
    scale = np.array([1.0, 2.0, 4.0, 8.0], "f4")
    launch = wp.ptx(COPY)[1, 32](x=wp.f32(4), y=wp.out(4), n=4)
    assert wp.verify(lambda x: x * (scale / scale), launch).proved
    assert wp.verify(lambda x: x * scale, launch).refuted


def test_functions_that_do_not_fit_are_told(example):
    online = wp.ptx(example("online.ptx"))[4, 64](**ARGUMENTS)
    with pytest.raises(wp.UsageError, match="takes `z`"):
        wp.verify(lambda x, z: x + z, online)
    with pytest.raises(wp.UsageError, match="no output"):
        wp.verify(softmax, wp.ptx(example("online.ptx"))[4, 64], x=wp.f32(4, 256))
    with pytest.raises(TypeError):
        wp.verify(lambda x: x if x[0, 0] > 0 else -x, online)
