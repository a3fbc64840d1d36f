"""`shapes=`: equality at small shapes, checks at the shapes of the arguments. Needs torch, Triton and the built
package; no GPU.
"""

from __future__ import annotations

import pickle

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
pytest.importorskip("warpproof._native")

import warpproof as wp  # noqa: E402


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)


def softmax(x, most=1 << 20):
    y = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(rows,)](x, y, columns, BLOCK=min(most, triton.next_power_of_2(columns)))
    return y


def only_small_rows(x):
    return softmax(x, 64)


def reference(x):
    return torch.softmax(x, dim=-1)


def test_equal_at_reduced_shapes_and_checked_at_full_ones():
    report = wp.verify(reference, softmax, x=wp.f32(24, 301), shapes="reduced")
    assert report.kernels == {"equal at x[16,17]": "proved", "check of softmax_kernel at x[24,301]": "proved"}
    assert report.proved and "exp(" in report.formula
    assert report.text().startswith("equal at x[16,17]: proved\ncheck of softmax_kernel at x[24,301]: proved\n")
    assert pickle.loads(pickle.dumps(report)).kernels == report.kernels
    assert "x[24,301]" in report.html()


def test_what_is_wrong_at_full_shapes_alone_is_found():
    report = wp.verify(reference, only_small_rows, x=wp.f32(4, 301), shapes="reduced")
    assert report.kernels == {"equal at x[4,17]": "proved", "check of softmax_kernel at x[4,301]": "refuted"}
    assert report.refuted
    with pytest.raises(wp.Refuted):
        report.raise_if_refuted()


def test_shapes_by_name():
    report = wp.verify(reference, only_small_rows, x=wp.f32(2, 300), shapes=[{"x": (2, 40)}, {"x": (3, 70)}])
    assert report.kernels["equal at x[2,40]"] == "proved" and report.kernels["equal at x[3,70]"] == "refuted"
    found = report.counterexample
    assert found.element[0] == "y" and found.inputs["x"].shape == (3, 70)
    assert wp.verify(reference, softmax, x=wp.f32(2, 30), shapes={"x": (2, 30)}).kernels == {"equal at x[2,30]": "proved"}


def test_mistakes():
    for shapes, words in (("small", "reduced"), ({"z": (1,)}, "`z`"), ({"x": (4,)}, "2 dimensions"), ([], "empty")):
        with pytest.raises(wp.UsageError, match=words):
            wp.verify(reference, softmax, x=wp.f32(4, 30), shapes=shapes)
    with pytest.raises(wp.UsageError, match="function that launches"):
        wp.verify(reference, wp.triton(softmax_kernel)[4], x=wp.f32(4, 30), y=wp.out(4, 30), columns=30, BLOCK=32, shapes="reduced")
    with pytest.raises(wp.UsageError, match="returns its outputs"):
        wp.verify(reference, softmax, x=wp.f32(4, 30), y=wp.out(4, 30))
    with pytest.raises(wp.UsageError, match="do not run at reduced shapes"):
        wp.verify(lambda x: x.view(100, 3), lambda x: x.view(100, 3), x=wp.f32(300), shapes="reduced")


def test_numbers_are_arguments_of_both_functions():
    def scaled(x, by):
        return torch.softmax(x * by, dim=-1)

    assert wp.verify(scaled, lambda x, by: softmax(x * by), x=wp.f32(2, 5), by=2.0).proved
    assert wp.verify(scaled, lambda x, by: softmax(x * 3), x=wp.f32(2, 5), by=2.0).refuted


def test_formulas_and_numpy_are_references_of_functions():
    import numpy as np

    def by_numpy(x):
        e = np.exp(x)
        return e / e.sum(axis=-1, keepdims=True)

    assert wp.verify("y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))", softmax, x=wp.f32(3, 20)).proved
    assert wp.verify(by_numpy, softmax, x=wp.f32(3, 20)).proved
    assert wp.verify("y[i,j] = exp(x[i,j])", softmax, x=wp.f32(3, 20)).refuted


def test_modules_share_their_parameters():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(6, 10)

        def forward(self, x):
            return torch.softmax(self.linear(x), dim=-1)

    class Fast(Layer):
        def forward(self, x):
            return softmax(self.linear(x))

    assert wp.verify(Layer(), Fast(), x=wp.f32(3, 6)).proved
