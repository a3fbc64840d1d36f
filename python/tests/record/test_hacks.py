"""Solutions that fool a comparison on random inputs: none of them is proved. Needs torch, Triton and the built
package; no GPU.
"""

from __future__ import annotations

import threading

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


@triton.jit
def relu_second(x, y, begin, n, B: tl.constexpr):
    at = begin + tl.arange(0, B)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)


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


def error_caught(x):
    y = right(x)
    try:
        y[0, 0] = 5.0
    except Exception:
        pass
    return y


def data_asked_for(x):
    try:
        big = bool((x.abs() > 5).any())
    except Exception:
        big = False
    return x * 0 if big else right(x)


def failing_product(x):
    y = right(x)
    try:
        torch.ones(2, device=x.device) @ torch.ones(3, device=x.device)
    except RuntimeError:
        return y
    return y * 0


def changed_by_an_index(x):
    y = right(x)
    y[torch.arange(0, 4, 2, device=x.device)] = 0.0
    return y


def changed_by_a_mask(x):
    y = right(x)
    y[x > 5] = x[x > 5]
    return y


def changed_as_integers(x):
    y = right(x)
    y.view(torch.int32).fill_(0)
    return y


def compiled_before(x):
    y = right(x)
    kernel = relu_kernel.warmup(x, x, 105, B=128, grid=(1,))
    try:
        kernel[(1, 1, 1)](x, y, 105)
    except Exception:
        pass
    return y


def from_a_thread(x):
    y = right(x)
    thread = threading.Thread(target=lambda: y.fill_(5.0))
    thread.start()
    thread.join()
    return y


CAUGHT = [(compiled_before, "compiled earlier"), (from_a_thread, "thread"), (error_caught, "a part of a tensor"), (data_asked_for, "contents"), (failing_product, "catches an error"), (changed_by_an_index, "chosen by a tensor"), (changed_by_a_mask, "contents"), (changed_as_integers, "another type")]  # fmt: skip
RESULTS = [
    (lambda x: (right(x), 3 * x), "2 tensors"), (lambda x: right(x).half(), "f16"), (lambda x: right(x).view(21, 5), r"21, 5"),
    (lambda x: right(x).view(torch.int32), "another type"),
]  # fmt: skip


@pytest.mark.parametrize("host, words", CAUGHT + RESULTS)
def test_refused(host, words):
    with pytest.raises(Untraceable, match=words):
        wp.verify(reference, host, x=wp.f32(5, 21))


@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"])
@triton.jit
def twice_or_four_times(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) * (2 if B == 64 else 4), mask=at < n)


@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"])
@triton.jit
def same_or_half(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) * (1.0 if B == 64 else 0.5), mask=at < n)


def test_kernels_are_tuned_by_themselves():
    def host(x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        twice_or_four_times[lambda meta: (triton.cdiv(64, meta["B"]),)](x, y, 64)
        same_or_half[lambda meta: (triton.cdiv(64, meta["B"]),)](y, z, 64)
        return z

    assert wp.verify(lambda x: 2 * x, host, x=wp.f32(64)).verdict == "refuted"


def part(x, count=64):
    return launched(relu_kernel, x, torch.empty(128, device=x.device), count)[:64]


def in_two_launches(x, first=32, second=32):
    y = torch.empty_like(x)
    relu_kernel[(1,)](x, y, first, B=64)
    relu_second[(1,)](x, y, second, x.numel(), B=64)
    return y


def a_launch_that_writes_nothing_first(x):
    y = torch.empty_like(x)
    relu_kernel[(1,)](x, y, 0, B=64)
    return launched(relu_kernel, x, y, x.numel())


def in_place(x):
    y = launched(relu_kernel, x, torch.empty_like(x), x.numel())
    return launched(relu_kernel, y, y, y.numel())


@pytest.mark.parametrize("host", [part, in_two_launches, a_launch_that_writes_nothing_first, lambda x: in_two_launches(x, 40, 20)])
def test_memory_that_launches_write_in_parts(host):
    assert wp.verify(reference, host, x=wp.f32(64)).verdict == "proved"


def test_a_launch_in_place_among_others_is_refused():
    with pytest.raises(Untraceable, match="one tensor as two arguments"):
        wp.verify(reference, in_place, x=wp.f32(64))


@pytest.mark.parametrize("host", [lambda x: part(x, 63), lambda x: in_two_launches(x, 32, 33), lambda x: in_two_launches(x, 0, 1)])
def test_memory_of_which_a_part_is_not_written(host):
    assert wp.verify(reference, host, x=wp.f32(64)).verdict == "refuted"


def test_a_view_beyond_its_memory():
    with pytest.raises(Untraceable, match="beyond its memory"):
        wp.verify(reference, lambda x: torch.as_strided(right(x), (64,), (1,), 1), x=wp.f32(64))
