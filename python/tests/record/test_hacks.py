"""Solutions that fool a comparison on random inputs: none of them is proved. Needs torch, Triton and the built package; no GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
pytest.importorskip("warpproof._native")

import warpproof as wp  # noqa: E402
from warpproof.trace import Untraceable  # noqa: E402


@triton.jit
def relu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)


@triton.jit
def relu_and_clear(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)
    tl.store(x + at, tl.zeros((B,), tl.float32), mask=at < n)


def launched(kernel, x, y, n):
    kernel[(triton.cdiv(n, 64),)](x, y, n, B=64)
    return y


def right(x):
    return launched(relu_kernel, x, torch.empty_like(x), x.numel())


def by_torch_and_a_kernel(x):
    return launched(relu_kernel, x * 2, torch.empty_like(x), x.numel()) / 2


def zeros(x):
    return torch.zeros_like(x)


def identity(x):
    return x


def input_changed(x):
    return launched(relu_and_clear, x, torch.empty_like(x), x.numel())


def half_written(x):
    return launched(relu_kernel, x, torch.empty_like(x), x.numel() // 2)


def last_missing(x):
    return launched(relu_kernel, x, torch.empty_like(x), x.numel() // 2 * 2)


def zeros_below(x):
    return launched(relu_kernel, x, torch.zeros_like(x), x.numel() // 2)


def beyond_the_end(x):
    return launched(relu_kernel, x, torch.empty_like(x), x.numel() + 1)


def reference(x):
    return torch.relu(x)


@pytest.mark.parametrize("host", [right, by_torch_and_a_kernel])
def test_right(host):
    assert wp.verify(reference, host, x=wp.f32(5, 21)).verdict == "proved"


@pytest.mark.parametrize("host", [zeros, identity, input_changed, half_written, last_missing, zeros_below, beyond_the_end])
def test_hack(host):
    assert wp.verify(reference, host, x=wp.f32(5, 21)).verdict == "refuted"


def test_memory_that_nothing_wrote():
    with pytest.raises(Untraceable, match="nothing has written"):
        wp.verify(reference, lambda x: torch.empty_like(x), x=wp.f32(5, 21))
