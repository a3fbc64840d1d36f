"""Host functions that do something else on a GPU, or the next time: none of them is proved. Needs torch and Triton.

Not every such function can be found; these are the ways that are.
"""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

from warpproof.record import Untraceable, record  # noqa: E402


@triton.jit
def twice_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def twice(x, grid=(1,), y=None):
    y = torch.empty_like(x) if y is None else y
    twice_kernel[grid](x, y, x.numel(), B=64)
    return y


def test_the_plain_function_is_recorded():
    (step,) = record(twice, torch.empty(64)).steps
    assert step.grid == (1,)


def grid_of_floats(x):
    return twice(x, (x.numel() / 64,))


def output_on_the_processor(x):
    return twice(x, y=torch.empty(x.shape))


def result_on_the_processor(x):
    return twice(x).cpu()


def by_the_name(x):
    return twice(x) if torch.cuda.get_device_name() == "recorded" else x


def by_the_name_in_properties(x):
    return twice(x) if torch.cuda.get_device_properties(0).name == "recorded" else x


def by_the_address(x):
    return twice(x) if x.data_ptr() == 0 else x


def without_a_stream(x):
    try:
        torch.cuda.Stream()
        return x
    except Exception:
        return twice(x)


def without_a_driver(x):
    try:
        torch.cuda.get_rng_state()
        return x
    except Exception:
        return twice(x)


def end_of_the_program(x):
    sys.exit(0)


@pytest.mark.parametrize(
    "host, words",
    [
        (output_on_the_processor, "memory of the CPU"), (result_on_the_processor, "memory of the CPU"), (by_the_name, "name of the GPU"),
        (by_the_name_in_properties, "`name`"), (by_the_address, "address"), (without_a_stream, "stream"), (without_a_driver, "driver"),
        (end_of_the_program, "exits the process"),
    ],
)  # fmt: skip
def test_refused(host, words):
    with pytest.raises(Untraceable, match=words):
        record(host, torch.empty(64))


def test_a_grid_of_floats_is_refused_as_in_triton():
    with pytest.raises(TypeError, match="float"):
        record(grid_of_floats, torch.empty(64))


def test_the_second_call_does_something_else():
    calls = []

    def host(x):
        calls.append(x)
        return twice(x) if len(calls) == 1 else twice(twice(x))

    with pytest.raises(Untraceable, match="called again"):
        record(host, torch.empty(64))


def test_a_result_that_is_kept():
    cache = {}

    def host(x):
        if x.shape not in cache:
            cache[x.shape] = twice(x)
        return cache[x.shape]

    with pytest.raises(Untraceable, match="called again"):
        record(host, torch.empty(64))


def test_a_size_that_is_kept():
    cache = {}

    def host(x):
        return twice(x, (cache.setdefault(x.shape, triton.cdiv(x.numel(), 64)),))

    assert record(host, torch.empty(64)).steps


def test_answers_about_the_gpu_are_assumptions():
    def host(x):
        return twice(x, (min(1, torch.cuda.get_device_properties("cuda").multi_processor_count),))

    assert record(host, torch.empty(64)).assumptions == ["the GPU has `multi_processor_count` 132"]
    assert record(twice, torch.empty(64)).assumptions == []


def test_the_default_type_is_restored():
    def host(x):
        torch.set_default_dtype(torch.float64)
        return twice(x)

    record(host, torch.empty(64))
    assert torch.get_default_dtype() == torch.float32


def tuned(**options):
    @triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"], **options)
    @triton.jit
    def add_to(x, y, n, B: tl.constexpr):
        at = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + at, tl.load(y + at, mask=at < n) + tl.load(x + at, mask=at < n), mask=at < n)

    return add_to


def grid(meta):
    return (triton.cdiv(meta["n"], meta["B"]),)


def test_tuning_runs_a_kernel_several_times():
    def on(kernel, make):
        def host(x):
            y = make(x)
            kernel[grid](x, y, x.numel())
            return y

        return record(host, torch.empty(64))

    for kernel, make in [(tuned(), torch.clone), (tuned(reset_to_zero=["y"]), torch.clone), (tuned(), torch.zeros_like)]:
        with pytest.raises(Untraceable, match="several times"):
            on(kernel, make)
    with pytest.raises(Untraceable, match="hook"):
        on(tuned(pre_hook=lambda arguments, reset_only=False: None), torch.clone)
    assert len(on(tuned(restore_value=["y"]), torch.clone).variants) == 2
    assert len(on(tuned(reset_to_zero=["y"]), torch.zeros_like).variants) == 2


def test_tuning_a_kernel_that_reads_what_it_writes_by_another_name():
    with pytest.raises(Untraceable, match="several times"):
        record(lambda x: _in_place(tuned(), x.clone()), torch.empty(64))


def _in_place(kernel, y):
    kernel[grid](y, y, y.numel())
    return y


PROBLEM = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.rand(100)]
def get_init_inputs():
    return []
"""
ENDS = ["import sys; sys.exit(0)", "import os; os._exit(0)", "raise SystemExit(0)", "raise KeyboardInterrupt"]
INSIDE = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        END
"""


@pytest.mark.parametrize("end", ENDS + ["while True: pass"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_solution_that_ends_the_program_is_no_proof(tmp_path, end, inside, capfd, monkeypatch):
    pytest.importorskip("warpproof._native")
    from warpproof import kernelbench

    monkeypatch.setattr(kernelbench, "_START", 15.0)
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "solution.py").write_text(INSIDE.replace("END", end) if inside else end)
    words = [str(tmp_path / "problem.py"), str(tmp_path / "solution.py"), *(["--timeout", "5"] if "while" in end else [])]
    assert kernelbench.main(words) == 3
    assert "unknown" in capfd.readouterr().out


CONSTANTS = """
import torch
FACTOR = 40
def shifted(x):
    return x - 48
class Model(torch.nn.Module):
    def forward(self, x):
        return shifted(x * FACTOR + 32)
def get_inputs():
    return [torch.rand(2000)]
def get_init_inputs():
    return []
"""
ITS_SOLUTION = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 40 - 16, mask=at < n)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)
        return y
"""


def test_reduction_leaves_the_numbers_of_the_model(tmp_path, capfd):
    """A solution has its own copy of them: with smaller ones in the problem, a right solution would be refuted."""
    pytest.importorskip("warpproof._native")
    from warpproof import kernelbench

    (tmp_path / "problem.py").write_text(CONSTANTS)
    (tmp_path / "solution.py").write_text(ITS_SOLUTION)
    words = [str(tmp_path / "problem.py"), str(tmp_path / "solution.py"), "--reduced", "--no-check"]
    assert kernelbench.main(words) == 0
    assert "x [16]" in capfd.readouterr().out
