"""Host functions that change layouts in place, return other structures, keep state, or launch what a GPU refuses.

None of them is proved. Needs torch, Triton and the built package; no GPU.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
pytest.importorskip("warpproof._native")

import warpproof as wp  # noqa: E402
from warpproof.record import extensions, record  # noqa: E402
from warpproof.trace import Untraceable  # noqa: E402


@triton.jit
def relu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0), mask=at < n)


def right(x, y=None, **options):
    y = torch.empty_like(x) if y is None else y
    relu_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64, **options)
    return y


def transposed_in_place(x):
    y = right(x).t()
    y.t_()
    return y


def storage_resized(x):
    y = right(x)
    y.untyped_storage().resize_(0)
    return y


def overlapping_launches(x):
    return right(right(x, launch_pdl=True), launch_pdl=True)


def stream_of_its_own(x):
    try:
        torch.Stream(device="cuda")
    except Exception:
        return right(x)
    return x


def event_of_its_own(x):
    try:
        torch.cuda.Event().record()
    except Exception:
        return right(x)
    return x


REFUSED = [
    (transposed_in_place, "shape or strides"), (storage_resized, "resized"), (overlapping_launches, "launch_pdl"),
    (stream_of_its_own, "stream"), (event_of_its_own, "event"), (lambda x: (right(x),), "structure"), (lambda x: (right(x), None), "structure"),
]  # fmt: skip


@pytest.mark.parametrize("host, words", REFUSED)
def test_refused(host, words):
    with pytest.raises(Untraceable, match=words):
        wp.verify(lambda x: torch.relu(x), host, x=wp.f32(8, 8), target="sm_90")


def test_another_order_of_names():
    with pytest.raises(Untraceable, match="structure"):
        wp.verify(lambda x: {"a": torch.mul(x, 2), "b": x * 3}, lambda x: {"b": x * 2, "a": x * 3}, x=wp.f32(8))


def test_a_list_may_stand_for_a_tuple():
    assert wp.verify(lambda x: (torch.relu(x), x * 2), lambda x: [right(x), x * 2], x=wp.f32(8)).proved


@pytest.mark.parametrize("make", [lambda x: x.contiguous(memory_format=torch.channels_last), lambda x: x.contiguous().clone(memory_format=torch.channels_last)])
def test_channels_last(make):
    def host(x):
        return right(make(x), torch.empty(x.shape, device=x.device))

    with pytest.raises(Untraceable, match="row-major"):
        wp.verify(lambda x: torch.relu(x), host, x=wp.f32(1, 4, 4, 4))
    (step,) = record(lambda x: right(x, torch.empty(x.shape, device=x.device).contiguous(memory_format=torch.contiguous_format)), torch.empty(1, 4, 4, 4)).steps
    assert step.kernel == "relu_kernel"


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(64))
        self.register_buffer("offset", torch.zeros(64))

    def forward(self, x):
        return torch.relu(x) * self.weight + self.offset


class WeightReplaced(Scaled):
    def forward(self, x):
        y = right(x) * self.weight + self.offset
        self.weight = torch.nn.Parameter(self.weight * 2)
        return y


class WeightOtherMemory(Scaled):
    def forward(self, x):
        y = right(x) * self.weight + self.offset
        self.weight.data = self.weight * 2
        return y


class BufferReplaced(Scaled):
    def forward(self, x):
        y = right(x) * self.weight + self.offset
        self.offset = self.offset + 1
        return y


@pytest.mark.parametrize("host", [WeightReplaced, WeightOtherMemory, BufferReplaced])
def test_a_module_that_changes_what_it_holds(host):
    with pytest.raises(Untraceable, match="replaces"):
        wp.verify(Scaled(), host(), x=wp.f32(64))


class Held(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(64))

    def forward(self, weight):
        return torch.relu(self.weight)


class Given(Held):
    def forward(self, weight):
        return right(weight)


def test_an_argument_with_the_name_of_a_parameter():
    assert wp.verify(Held(), Given(), weight=wp.f32(64)).refuted


@pytest.mark.parametrize("name", ["mean", "max", "e", "size", "in_"])
def test_arguments_with_names_of_the_language_of_formulas(name):
    assert wp.verify(lambda x: torch.relu(x), lambda x: right(x), **{name: wp.f32(64)}).proved


def test_a_formula_cannot_name_such_an_argument():
    with pytest.raises(wp.UsageError, match="`mean`"):
        wp.verify("y[i] = relu(mean[i])", lambda x: right(x), mean=wp.f32(64))


HOST = "torch::Tensor f(torch::Tensor x) { auto y = torch::empty_like(x); BODY return y; }\n"
RELU = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.f); }\n"


def extension(body, kernel=RELU, **options):
    made = extensions.load_inline("extension", cpp_sources="", cuda_sources=kernel + HOST.replace("BODY", body), functions=["f"], **options)
    return lambda x: made.f(x)


def launch(shared):
    return f"k<<<1, 64, {shared}>>>(x.data_ptr<float>(), y.data_ptr<float>(), 64);"


ATTRIBUTE = "cudaFuncSetAttribute(NAME, cudaFuncAttributeMaxDynamicSharedMemorySize, SIZE);"


@pytest.mark.parametrize(
    "before, shared",
    [("", 49153), (ATTRIBUTE.replace("NAME", "k").replace("SIZE", "60000"), 65536), (ATTRIBUTE.replace("NAME", "other").replace("SIZE", "65536"), 65536)],
)
def test_more_shared_memory_than_a_launch_may_have(before, shared):
    with pytest.raises(Untraceable, match="shared memory"):
        record(extension(before + launch(shared)), torch.empty(8, 8))


@pytest.mark.parametrize("name", ["k", "&k", "(const void*)k", "reinterpret_cast<void*>(k)"])
def test_shared_memory_that_is_asked_for(name):
    body = "int bytes = 65536; " + ATTRIBUTE.replace("NAME", name).replace("SIZE", "bytes") + launch("bytes")
    assert record(extension(body), torch.empty(8, 8)).steps[0].shared == 65536
    assert record(extension(launch(49152)), torch.empty(8, 8)).steps


COUNTS = """__device__ int calls = 0;
__global__ void k(const float* x, float* y, int n) {
    int i = threadIdx.x;
    float v = calls > 0 ? 0.f : fmaxf(x[i], 0.f);
    __syncthreads();
    y[i] = v;
    if (i == 0) calls = 1;
}
"""


def test_a_kernel_that_counts_its_launches():
    pytest.importorskip("nvidia")
    with pytest.raises(Untraceable, match="`calls`"):
        wp.verify(lambda x: torch.relu(x), extension(launch(0), COUNTS), x=wp.f32(8, 8))


def test_a_macro_that_uses_a_parameter_which_is_renamed():
    text = "__device__ float x[64];\n#define ELEMENT(i) x[i]\n" + RELU.replace("x[i]", "ELEMENT(i)")
    with pytest.raises(Untraceable, match="macro"):
        record(extension(launch(0), text), torch.empty(8, 8), names=["x"])


def test_a_constant_function_of_the_host_that_a_kernel_calls():
    text = "constexpr char least(char a, char b) { return 0; }\n__device__ int least(int a, int b) { return a < b ? a : b; }\n"
    kernel = text + RELU.replace("n) y", "n + least((char)0, (char)1)) y")
    with pytest.raises(Untraceable, match="`least`"):
        record(extension(launch(0), kernel, extra_cuda_cflags=["--expt-relaxed-constexpr"]), torch.empty(8, 8))


def test_arguments_that_torch_does_not_take():
    with pytest.raises(Untraceable, match="div"):
        record(extension(launch(0) + 'y = y.div(y, "floor");'), torch.empty(8, 8))


PROBLEM = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.unset = torch.nn.Parameter(torch.empty(8))
    def forward(self, x):
        return torch.relu(self.linear(x) + self.unset)
def get_inputs():
    return [torch.rand(4, 8)]
def get_init_inputs():
    return []
"""
SOLUTION = PROBLEM[: PROBLEM.index("def get_inputs")].replace("Model(", "ModelNew(")


def by_extension(kernel):
    text = kernel + "torch::Tensor f(torch::Tensor x) { auto y = torch::empty_like(x); k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 32); return y; }"
    made = f"from torch.utils.cpp_extension import load_inline\nmade = load_inline(name='made', cpp_sources='', cuda_sources={text!r}, functions=['f'])\n"
    return made + SOLUTION.replace("torch.relu(", "made.f(")


@pytest.mark.parametrize(
    "solution, code, words",
    [
        (SOLUTION, 0, "proved"), (by_extension(RELU), 0, "proved"), (by_extension(COUNTS), 3, "`calls`"),
        (SOLUTION.replace("        self.unset", "        self.linear.weight.data *= 2\n        self.unset"), 3, "`linear.weight` of ModelNew"),
    ],
)  # fmt: skip
def test_the_command(tmp_path, solution, code, words, capfd):
    from warpproof import kernelbench

    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "solution.py").write_text(solution)
    assert kernelbench.main([str(tmp_path / "problem.py"), str(tmp_path / "solution.py")]) == code
    assert words in capfd.readouterr().out
