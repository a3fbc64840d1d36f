"""Recordings of Triton host functions on fake tensors: steps, directions, configurations, projects. No GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "trace"))
from evaluate import evaluate  # noqa: E402

from warpproof.record import Formula, Launch, record  # noqa: E402
from warpproof.record.pointers import accessed  # noqa: E402
from warpproof.trace import Untraceable  # noqa: E402
from warpproof.trace.torch import trace  # noqa: E402

F = torch.nn.functional


@triton.jit
def relu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)


@triton.jit
def row_sum(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(v, 0))


@triton.jit
def count(x, total, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(total, tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))


@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b, w in ((64, 2), (128, 4), (256, 8))], key=["n"])
@triton.jit
def add_kernel(x, y, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def walk(x, y, n, B: tl.constexpr):
    p = y + tl.arange(0, B)
    q = x + tl.arange(0, B)
    k = 0
    while k < n:
        tl.store(p, 2 * tl.load(q))
        p += B
        q += B
        k += B


@triton.jit
def choose(x, y, out, n, which, B: tl.constexpr):
    at = tl.arange(0, B)
    source = x
    if which > 0:
        source = y
    for i in range(0, n):
        tl.store(out + at, tl.load(source + at) + i)
        source += 1


def relu(x):
    y = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)
    return y


class Mixture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 16)

    def forward(self, x):
        return F.silu(relu(self.linear(x))).view(2, 2, 16)


def arguments(step):
    return [text for _, text in step.arguments]


def test_mixture():
    recording = record(Mixture(), torch.empty(4, 8))
    one, two, three = recording.steps
    assert isinstance(one, Formula) and isinstance(two, Launch) and isinstance(three, Formula)
    assert one.text.splitlines()[-1] == "t1[i,j] = product[i,j] + linear_bias[j]"
    assert arguments(two) == ["t1=f32[4,16]", "t2=f32[4,16]:out", "arg_n=64"]
    assert (two.grid, two.block, two.shared) == ((1,), 128, 0)
    assert three.text == "y[i,j,k] = t2[2*i + j,k]*sigmoid(t2[2*i + j,k])"
    assert recording.variants[0].weights == {"linear_weight": "linear.weight", "linear_bias": "linear.bias"}
    assert recording.outputs == [("y", "f32", (2, 2, 16))]


def test_a_result_that_only_launches_use_gets_its_own_shape():
    recording = record(lambda x: relu(x.view(-1)).view(4, 8), torch.empty(4, 8))
    assert arguments(recording.steps[0]) == ["x=f32[4,8]", "y=f32[4,8]:out", "arg_n=32"]
    assert len(recording.steps) == 1


def test_every_configuration_is_recorded():
    def add(x, y):
        out = torch.empty_like(x)
        add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, out, x.numel())
        return out

    recording = record(add, torch.empty(300), torch.empty(300))
    assert [(v.steps[0].grid, v.steps[0].block, v.steps[0].options["B"]) for v in recording.variants] == [
        ((5,), 64, 64), ((3,), 128, 128), ((2,), 256, 256)
    ]  # fmt: skip
    assert len(record(add, torch.empty(300), torch.empty(300), variants=1).variants) == 1


def test_directions():
    def host(x):
        total = torch.zeros(1, device=x.device)
        count[(2,)](x, total, x.numel(), B=64)
        count[(1,)](total, total, 1, B=16)
        rows = torch.empty(4, device=x.device)
        row_sum[(4,)](x, rows, 20, B=32)
        return total

    one, two, three = record(host, torch.empty(4, 20)).steps
    assert arguments(one) == ["x=f32[4,20]", "y=f32[1]:out=0", "arg_n=80"]
    assert arguments(two) == ["y=f32[1]:inout", "y_2=f32[1]:inout"] and two.alias == ["y,y_2"]
    assert arguments(three) == ["x=f32[4,20]", "t2=f32[4]:scratch", "arg_n=20"]
    assert three.shared == 0 or three.shared > 0


def test_strides_are_kept():
    step = record(lambda x: relu(x), torch.empty(8, 4).T).steps[0]
    assert arguments(step)[0] == "x=f32[4,8]@[1,4]"


def test_pointers_through_branches_and_loops():
    def host(x, y):
        out = torch.empty_like(x)
        choose[(1,)](x, y, out, 3, 2, B=16)
        return out

    (step,) = record(host, torch.empty(16), torch.empty(16)).steps
    assert arguments(step)[:3] == ["x=f32[16]", "y=f32[16]", "y1=f32[16]:out"] or "out" in arguments(step)[2]
    assert not any(":inout" in text for text in arguments(step))


def test_unknown_code_counts_as_access():
    everything = frozenset({"a", "b"})
    assert accessed("tt.func public @k(%a: i32, %b: i32) {\n tt.call @f(%a)\n}", "k", ("a", "b")) == (everything, everything)
    assert accessed("nothing", "k", ("a", "b")) == (everything, everything)


CARRIED = """tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
BODY
  tt.return
}
"""
SWAPPED = """
%r:2 = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %a) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
  scf.for %j = %n to %n step %n  : i32 {
    %v = tt.load %q : !tt.ptr<f32> loc(#loc1)
  } loc(#loc2)
  scf.yield %q, %b : !tt.ptr<f32>, !tt.ptr<f32>
} {tt.num_stages = 3 : i32}
tt.store %r#0, %v : !tt.ptr<f32>"""
WHILE = """
%r:2 = scf.while (%p = %a, %i = %n) : (!tt.ptr<f32>, i32) -> (i32, !tt.ptr<f32>) {
  scf.condition(%c) %i, %p : i32, !tt.ptr<f32>
} do {
^bb0(%i: i32 loc("i"(#loc1)), %p2: !tt.ptr<f32> loc("p"(#loc1))):
  %v = tt.load %p2 : !tt.ptr<f32>
  scf.yield %b, %i : !tt.ptr<f32>, i32
}
tt.store %r#1, %v : !tt.ptr<f32>"""
BRANCH = """
%p = scf.if %c -> (!tt.ptr<f32>) {
  scf.yield %a : !tt.ptr<f32>
} else {
  scf.yield %b : !tt.ptr<f32>
}
%v = tt.load %a : !tt.ptr<f32>
tt.store %p, %v : !tt.ptr<f32>"""


@pytest.mark.parametrize(
    "body, read, written",
    [
        (SWAPPED, "ab", "ab"), (WHILE, "ab", "ab"), (BRANCH, "a", "ab"), ("tt.store %b, %n : !tt.ptr<f32>", "", "b"),
        ("tt.store %unknown, %n : !tt.ptr<f32>", "", "abn"), ("%p = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>\ntt.store %p, %n", "abn", "abn"),
        ("scf.unheard_of {\n}\ntt.store %b, %n : !tt.ptr<f32>", "abn", "abn"), ("tt.experimental_descriptor_store %b, %n", "", "b"),
    ],
)  # fmt: skip
def test_pointers_that_loops_carry(body, read, written):
    assert accessed(CARRIED.replace("BODY", body), "k", ("a", "b", "n")) == (frozenset(read), frozenset(written))


def test_a_pointer_of_a_while_loop():
    def host(x):
        y = torch.empty_like(x)
        walk[(1,)](x, y, 64, B=16)
        return y

    (step,) = record(host, torch.empty(64)).steps
    assert arguments(step) == ["x=f32[64]", "y=f32[64]:out", "arg_n=64"]


OPERATIONS = [
    lambda x: F.silu(x.t().reshape(-1)), lambda x: x[1:, ::2] * 2, lambda x: torch.softmax(x, 1) @ x.T, lambda x: x.expand(2, 4, 6).sum(0),
    lambda x: torch.cat([x, x.flip(0)]).view(2, -1)[1], lambda x: x.clone().add_(1).mul_(x), lambda x: torch.zeros_like(x).copy_(x[0]), lambda x: torch.full((4, 6), 2.5, device=x.device) - x,
    lambda x: F.layer_norm(x, (6,)).permute(1, 0).contiguous().relu_(), lambda x: x.as_strided((3, 2), (1, 6)) + 1, lambda x: F.mse_loss(x, x * x), lambda x: torch.empty_like(x).fill_(3.0) * x,
    lambda x: x.view(24)[5:9], lambda x: x,
]  # fmt: skip


@pytest.mark.parametrize("function", OPERATIONS, ids=range(len(OPERATIONS)))
def test_operations_between_launches_are_formulas(function):
    x = torch.randn(4, 6, dtype=torch.float64)
    (step,) = record(function, x).steps
    want = function(x.clone())
    got = evaluate(step.text, {"x": x.numpy()}, {n: s for n, _, s in step.outputs})["y"]
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-10, atol=1e-10)


def test_a_launch_between_keeps_what_was_computed_before():
    def host(x):
        y = x + 1
        z = y * 2
        relu_kernel[(1,)](x, y, 24, B=32)
        return z + y

    steps = record(host, torch.empty(4, 6)).steps
    assert [type(s).__name__ for s in steps] == ["Formula", "Launch", "Formula"]
    assert set(steps[2].uses) == {"t1", "t2"} and {n for n, _, _ in steps[0].outputs} == {"t1", "t2"}


def test_a_result_that_a_formula_reads_is_copied():
    def host(x):
        y = relu(x)
        return y, y * 2

    recording = record(host, torch.empty(4, 6))
    assert [name for name, _, _ in recording.outputs] == ["y0", "y1"]
    assert set(recording.steps[-1].text.splitlines()) == {"y0[i,j] = t1[i,j]", "y1[i,j] = t1[i,j]*2"}


def test_a_filled_tensor_that_is_only_read():
    def host(x):
        return relu(torch.zeros(3, device=x.device))

    assert arguments(record(host, torch.empty(3)).steps[0])[0] == "t1=f32[3]=0"


REFUSED = [
    (lambda x: x.add_(1), "input"), (lambda x: relu(x[1:]), "inside of another"), (lambda x: x.clone()[0].add_(1), "part"), (lambda x: x.sort()[0], "sort"),
    (lambda x: F.dropout(x), "random"), (lambda x: torch.empty_like(x) + x, "before anything"), (lambda x: 3, "no tensor"), (lambda x: torch.empty_like(x), "nothing has written"),
]  # fmt: skip


@pytest.mark.parametrize("function, words", REFUSED, ids=[w for _, w in REFUSED])
def test_refused(function, words):
    with pytest.raises(Untraceable, match=words):
        record(function, torch.empty(4, 6))


def test_project(tmp_path):
    tomllib = pytest.importorskip("tomllib")
    module = Mixture()
    traced = trace(lambda x: torch.relu(x), torch.empty(4, 16))
    path = record(module, torch.empty(4, 8)).write(tmp_path / "compared", traced)
    (entry,) = tomllib.loads(path.read_text())["equiv"]
    assert entry["reference"]["formula"] == traced.formula
    assert [sorted(step) for step in entry["optimised"]] == [["args", "formula"], ["args", "block", "grid", "kernel"], ["args", "formula"]]
    assert (path.parent / entry["optimised"][1]["kernel"].split("::")[0]).read_text().startswith("//")
    checks = tomllib.loads(record(module, torch.empty(4, 8)).write(tmp_path / "checked").read_text())["check"]
    assert [check["kernel"].split("::")[1] for check in checks] == ["relu_kernel"]


def test_memory_that_several_launches_write_has_any_contents_before():
    def host(x):
        y = torch.empty_like(x)
        relu_kernel[(1,)](x, y, 32, B=64)
        relu_kernel[(1,)](x, y, 64, B=64)
        return y

    recording = record(host, torch.empty(64))
    first, *launches = recording.steps
    assert first.text == "y[i] = memory[i]" and recording.inputs == [("x", "f32", (64,)), ("memory", "f32", (64,))]
    assert [dict(step.arguments)["y"] for step in launches] == ["y=f32[64]:inout"] * 2
