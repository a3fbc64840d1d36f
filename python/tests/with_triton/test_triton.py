"""Triton functions as kernels, compiled without a GPU. Needs Triton, and is run by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import triton
import triton.language as tl
import warpproof as wp

EXAMPLES = Path(__file__).parents[3] / "examples" / "online_softmax"


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)


@triton.jit
def masked_wrongly(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.exp(tl.load(x + row * columns + at, mask=at < columns, other=0.0))
    tl.store(y + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)


@triton.jit
def out_of_bounds(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at <= n)


ARGUMENTS = {"x": wp.f32(4, 200), "y": wp.out(4, 200), "columns": 200, "BLOCK": 256}


def test_a_function_is_compiled_for_its_arguments():
    report = wp.triton(softmax)[4].check(**ARGUMENTS)
    assert report.proved, report
    assert report.data["file"] == "softmax.ptx"
    assert wp.check(softmax, ARGUMENTS, grid=(4,)).proved
    assert wp.triton(softmax, num_warps=8, target="sm_90")[(4,)].check(**ARGUMENTS).proved


def test_a_signature_can_be_given():
    kernel = wp.triton(softmax, signature={"x": "*fp32", "y": "*fp32", "columns": "i32"}, constexprs={"BLOCK": 256})
    given = {name: value for name, value in ARGUMENTS.items() if name != "BLOCK"}
    assert kernel.shared and kernel.block == 128 and kernel.parameters == ("x", "y", "columns")
    assert kernel[4].check(**given).proved
    assert wp.triton(softmax, "*fp32, *fp32, i32", {"BLOCK": 256})[4].check(**given).proved
    with pytest.raises(wp.UsageError, match="2 types"):
        wp.triton(softmax, "*fp32, *fp32", {"BLOCK": 256})


def test_a_reference_in_ptx():
    reference = wp.ptx(EXAMPLES / "softmax.ptx")[4, 1]
    given = {name: value for name, value in ARGUMENTS.items() if name != "BLOCK"}
    report = wp.equiv(reference(**given), wp.triton(softmax)[4], **ARGUMENTS)
    assert report.proved, report
    wrong = wp.equiv(reference(**given), wp.triton(masked_wrongly)[4], **ARGUMENTS)
    assert wrong.refuted, wrong
    assert wrong.counterexample.inputs["x"].shape == (4, 200)
    assert wrong.counterexample.replay().finished


def test_findings_are_at_python_lines():
    report = wp.triton(out_of_bounds)[1].check(x=wp.f32(200), y=wp.out(200), n=200, BLOCK=256)
    assert report.refuted
    assert Path(__file__).name in str(report.findings[0])
    assert "tl.store(y + at" in report.text()


def test_mistakes_are_told():
    with pytest.raises(wp.UsageError, match="needs `columns` too"):
        wp.triton(softmax)[4].check(x=wp.f32(4, 200), y=wp.out(4, 200), BLOCK=256)
    with pytest.raises(wp.UsageError, match="`rows` is not a parameter of `softmax`"):
        wp.triton(softmax)[4].check(**ARGUMENTS, rows=4)
    with pytest.raises(wp.UsageError, match="not an architecture"):
        wp.triton(softmax, target="ampere")[4].check(**ARGUMENTS)


def test_order_of_arguments_does_not_matter():
    turned = dict(reversed(list(ARGUMENTS.items())))
    assert wp.triton(softmax)[4].check(**turned).proved


def test_claims_stand_above_functions(pytester):
    pytester.makepyfile(
        test_claims=f"""
import triton
import triton.language as tl
import warpproof as wp

reference = wp.ptx({str(EXAMPLES / "softmax.ptx")!r})[4, 1](x=wp.f32(4, 200), y=wp.out(4, 200), columns=200)

@wp.proved_against(reference, grid=lambda given: (4,), x=wp.f32(4, 200), y=wp.out(4, 200), columns=200, BLOCK=256)
@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)

def test_the_function_is_as_it_was():
    assert type(softmax).__name__ == "JITFunction"
"""
    )
    result = pytester.runpytest_subprocess("-v", "-p", "warpproof.pytest_plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*proved[[]softmax[]] PASSED*"])
