"""Functions of torch as references. Needs torch and Triton, and is run by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
import warpproof as wp

EXAMPLES = Path(__file__).parents[3] / "examples" / "online_softmax"
ARGUMENTS = {"x": wp.f32(4, 256), "y": wp.out(4, 256), "columns": 256}


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)


def test_functions_of_torch_are_references():
    online = wp.ptx(EXAMPLES / "online.ptx")[4, 64](**ARGUMENTS)
    report = wp.verify(lambda x: torch.softmax(x, dim=-1), online)
    assert report.proved, report
    assert wp.verify(torch.nn.Softmax(dim=-1), online).proved
    assert wp.verify(lambda x: torch.softmax(x, dim=0), online).refuted


def test_a_triton_kernel_against_torch():
    launch = wp.triton(softmax_kernel)[4](x=wp.f32(4, 200), y=wp.out(4, 200), columns=200, BLOCK=256)
    assert wp.verify(lambda x: torch.nn.functional.softmax(x, dim=-1), launch).proved


def test_tensors_of_torch_are_arguments():
    x, y = torch.empty(4, 256), torch.empty(4, 256)
    online = wp.ptx(EXAMPLES / "online.ptx")[4, 64](x=x, y=wp.out(y), columns=256)
    assert wp.verify(lambda x: torch.softmax(x, dim=-1), online).proved


def softmax(x):
    y = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
    return y


def test_a_function_that_launches_kernels_is_recorded():
    report = wp.verify(lambda x: torch.softmax(x, dim=-1), softmax, x=wp.f32(4, 200))
    assert report.proved, report
    assert wp.verify(lambda x: torch.softmax(x, dim=0), softmax, x=wp.f32(4, 200)).refuted
    with pytest.raises(wp.UsageError, match="recorded on tensors"):
        wp.verify(lambda x: torch.softmax(x, dim=-1), softmax)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def relu_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0.0), mask=at < n)


def layer(x, w):
    z = x @ w
    y = torch.empty_like(z)
    relu_kernel[lambda meta: (triton.cdiv(z.numel(), meta["BLOCK"]),)](z, y, z.numel())
    return y


def test_every_configuration_is_compared_with_what_torch_does_between_launches():
    shapes = {"x": wp.f32(8, 6), "w": wp.f32(6, 20)}
    report = wp.verify(lambda x, w: torch.relu(x @ w), layer, **shapes)
    assert report.proved and list(report.kernels) == ["configuration 0", "configuration 1"]
    wrong = wp.verify(lambda x, w: torch.relu(x @ w) + 1, layer, **shapes)
    assert wrong.refuted and "test_verify.py" in wrong.text()
