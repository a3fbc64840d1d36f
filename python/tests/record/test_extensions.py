"""CUDA extensions (`load_inline`): host functions are interpreted, kernels proved. Needs torch; proofs need the built package and NVRTC."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from warpproof.record import Untraceable, extensions, record  # noqa: E402
from warpproof.record.cuda_host import Host  # noqa: E402
from warpproof.record.cuda_source import split_source  # noqa: E402

ADD = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#define THREADS 128
#define CHECK(t) TORCH_CHECK(t.is_cuda(), #t " must be on a GPU"); TORCH_CHECK(t.is_contiguous())
namespace {
inline int blocks_for(int n, int threads) { return (n + threads - 1) / threads; }

__global__ void add_kernel(const float* __restrict__ a, const float* __restrict__ b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
}

torch::Tensor add(torch::Tensor a, const torch::Tensor& b) {
    CHECK(a);
    CHECK(b);
    TORCH_CHECK(a.sizes() == b.sizes(), "sizes");
    const auto n = a.numel();
    auto out = torch::empty_like(a);
    add_kernel<<<blocks_for(n, THREADS), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("%s", cudaGetErrorString(error));
    }
    return out;
}
"""

TEMPLATE = """
#include <torch/extension.h>
template <typename scalar_t, int TILE>
__global__
void transpose_kernel(const scalar_t* x, scalar_t* y, int64_t rows, int64_t columns) {
    __shared__ scalar_t tile[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();
    row = blockIdx.x * TILE + threadIdx.y;
    column = blockIdx.y * TILE + threadIdx.x;
    if (row < columns && column < rows) y[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

at::Tensor transpose(at::Tensor x) {
    constexpr int tile = 8;
    int64_t rows = x.size(0), columns = x.size(-1);
    at::Tensor y = at::empty({columns, rows}, x.options());
    dim3 block(tile, tile), grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "transpose", ([&] {
        transpose_kernel<scalar_t, 8><<<grid, block>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, columns);
    }));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &transpose, "transposes"); }
"""


def loaded(text, **options):
    return extensions.load_inline("extension", cpp_sources="", cuda_sources=text, **options)


def test_a_launch_is_recorded():
    made = loaded(ADD, functions=["add"])
    (step,) = record(lambda a, b: made.add(a, b), torch.empty(30, 10), torch.empty(30, 10)).steps
    assert (step.kernel, step.grid, step.block, step.shared, step.ending) == ("add_kernel", (3, 1, 1), (128, 1, 1), 0, ".cu")
    assert [text for _, text in step.arguments] == ["a=f32[30,10]", "b=f32[30,10]", "y=f32[30,10]:out", "arg_n=300"]
    # Parameters with the names of tensors are renamed, and host functions are removed; lines stay.
    assert "const float* __restrict__ a_parameter" in step.ptx and "blockIdx.x * blockDim.x" in step.ptx
    text = step.ptx.partition("#line 1\n")[2]
    assert "torch" not in step.ptx and len(text.splitlines()) == len(ADD.splitlines())


def test_templates_and_bindings():
    made = loaded(TEMPLATE)
    (step,) = record(lambda x: made.forward(x), torch.empty(20, 9)).steps
    assert (step.grid, step.block) == ((2, 3, 1), (8, 8, 1))
    assert step.ptx.rstrip().endswith("template __global__ decltype(transpose_kernel<float, 8>) transpose_kernel<float, 8>;")


def called(body, arguments="int n", text=""):
    """Runs a host function on a number, and returns its result."""
    source = split_source(f"{text}\nint f({arguments}) {{ {body} }}")
    return lambda *values: Host(source, lambda *_: None).call("f", values)


@pytest.mark.parametrize(
    "body, given, want",
    [
        ("return (n + 255) / 256;", 1000, 4),
        ("return -7 / 2;", 0, -3),
        ("return -7 % 3;", 0, -1),
        ("int k = ceil((float)n / 3); return k;", 10, 4),
        ("int k = 1; while (k < n) { k *= 2; } return k;", 100, 128),
        ("int s = 0; for (int i = 0; i < n; ++i) { if (i % 2 == 0) continue; if (i > 7) { break; } s += i; } return s;", 100, 16),
        ("int s = 0; for (int i = 0; i < n; i++) s += i; return s;", 5, 10),
        ("if (n > 4 && n != 6) return 1; else if (n == 6) { return 2; } return 3;", 6, 2),
        ("return n > 0 ? 100 / n : 0;", 0, 0),
        ("return std::min(n, 32) + max(n, 3);", 40, 72),
        ("return sizeof(float) * n;", 6, 24),
        ("return static_cast<int>(2.9f) + (n << 2) + 0x10;", 1, 22),
        ("const int a = 2, b = a * 3; return a + b;", 0, 8),
        ("dim3 g(n, 2); return g.x * g.y + g.z;", 5, 11),
        ("return twice(n) + SIZE;", 5, 17),
        ("bool b = !(n < 3); return b;", 5, True),
    ],
)  # fmt: skip
def test_arithmetic_of_the_host(body, given, want):
    assert called(body, text="#define SIZE 7\nint twice(int x) { return 2 * x; }")(given) == want


@pytest.mark.parametrize(
    "body, words",
    [
        ("return unheard_of(n);", "unheard_of"), ("int k = n * 4000000; return k;", "does not fit"), ("int k; return k;", "`k`"), ("return n / 0;", "zero"),
        ("int k = 0.1f * 30; return k;", "depends on rounding"), ("while (true) { } return 0;", "without an end"), ("TORCH_CHECK(n > 3); return n;", "check"), ("switch (n) { case 1: return 2; } return 3;", "."),
        ("goto out; out: return 1;", "."), ("auto g = [&](int x) { return x; }; return g(n);", "."),
    ],
)  # fmt: skip
def test_what_is_not_read_is_refused(body, words):
    with pytest.raises(Untraceable, match=words):
        called(body)(1000 if "4000000" in body else 1)


REFUSED = [
    ("auto y = torch::empty({4}); add_kernel<<<1, 4>>>(a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), 4);", "memory of the CPU"),
    ("auto y = torch::empty_like(a); add_kernel<<<1, 4>>>(a.data_ptr<double>(), b.data_ptr<float>(), y.data_ptr<float>(), 4);", "float64"),
    ("auto y = torch::empty_like(a); add_kernel<<<1, 4>>>(a.data_ptr<float>() + 1, b.data_ptr<float>(), y.data_ptr<float>(), 4);", "address"),
    ("auto y = torch::empty_like(a); add_kernel<<<1, 4>>>(a.data_ptr<float>(), y.data_ptr<float>(), 4);", "3 arguments"),
    ("auto y = torch::empty_like(a); other<<<1, 4>>>(a.data_ptr<float>());", "not a kernel"),
    ("auto y = torch::sort(a);", "torch::sort"),
]


@pytest.mark.parametrize("body, words", REFUSED, ids=[words for _, words in REFUSED])
def test_launches_that_are_refused(body, words):
    text = ADD + f"torch::Tensor f(torch::Tensor a, torch::Tensor b) {{ {body} return y; }}"
    made = loaded(text, functions=["f"])
    with pytest.raises(Untraceable, match=words):
        record(lambda a, b: made.f(a, b), torch.empty(4), torch.empty(4))


def test_a_float_of_the_host_is_the_number_that_was_meant():
    text = """
    __global__ void scale_kernel(const float* x, float* y, float by, int n) {
        if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * by;
    }
    torch::Tensor scale(torch::Tensor x, int d) {
        const float by = 1.0f / sqrt(d);
        auto y = torch::zeros_like(x);
        scale_kernel<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), by * 0.1f, x.numel());
        return y;
    }
    """
    wp = pytest.importorskip("warpproof")
    pytest.importorskip("warpproof._native")
    made = loaded(text, functions=["scale"])
    assert wp.verify(lambda x: x / 40, lambda x: made.scale(x, 16), x=wp.f32(20)).proved
    assert wp.verify(lambda x: x / 41, lambda x: made.scale(x, 16), x=wp.f32(20)).refuted


def test_proofs():
    wp = pytest.importorskip("warpproof")
    pytest.importorskip("warpproof._native")
    add, wrong = loaded(ADD, functions=["add"]), loaded(ADD.replace("a[i] + b[i]", "a[i] - b[i]"), functions=["add"])
    shapes = {"a": wp.f32(5, 33), "b": wp.f32(5, 33)}
    assert wp.verify(lambda a, b: a + b, lambda a, b: add.add(a, b), **shapes).proved
    report = wp.verify(lambda a, b: a + b, lambda a, b: wrong.add(a, b), **shapes)
    assert report.refuted and "add_kernel.cu:11" in report.text()
    short = loaded(ADD.replace("out.data_ptr<float>(), n)", "out.data_ptr<float>(), n - 1)"), functions=["add"])
    assert wp.verify(lambda a, b: a + b, lambda a, b: short.add(a, b), **shapes).refuted
    transpose = loaded(TEMPLATE)
    assert wp.verify(lambda x: x.T, lambda x: transpose.forward(x), x=wp.f32(20, 9)).proved
    # Next to operations of torch, and called twice.
    assert wp.verify(lambda x: (x + 1).T.T * 2, lambda x: transpose.forward(transpose.forward(x + 1)) * 2, x=wp.f32(4, 9)).proved


PROBLEM = """
import torch
class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(features))
    def forward(self, x):
        return x * self.scale + x
def get_inputs():
    return [torch.rand(100, 130)]
def get_init_inputs():
    return [130]
"""
SOLUTION = """
import torch
from torch.utils.cpp_extension import load_inline
source = r'''
__global__ void scale_kernel(const float* x, const float* scale, float* y, int n, int features) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * scale[i % features] + x[i];
}
torch::Tensor scale(torch::Tensor x, torch::Tensor s) {
    auto y = torch::empty_like(x);
    scale_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), s.data_ptr<float>(), y.data_ptr<float>(), x.numel(), x.size(1));
    return y;
}
'''
extension = load_inline(name="scale", cpp_sources="torch::Tensor scale(torch::Tensor x, torch::Tensor s);", cuda_sources=source, functions=["scale"])
class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(features))
    def forward(self, x):
        return extension.scale(x, self.scale)
"""


def kernelbench(tmp_path, solution, *words):
    (tmp_path / "problem.py").write_text(textwrap.dedent(PROBLEM))
    (tmp_path / "solution.py").write_text(textwrap.dedent(solution))
    command = [sys.executable, "-m", "warpproof.kernelbench", "problem.py", "solution.py", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_command_compares_reduced_and_checks_full_shapes(tmp_path):
    pytest.importorskip("warpproof._native")
    code, text = kernelbench(tmp_path, SOLUTION, "--reduced")
    assert code == 0, text
    assert "x [16, 16]" in text and "launches: scale_kernel" in text
    assert "checks of 1 launches at the problem's own shapes: [100, 130]" in text
    assert "own shapes" not in kernelbench(tmp_path, SOLUTION, "--reduced", "--no-check")[1]
    code, text = kernelbench(tmp_path, SOLUTION.replace("* scale[i % features]", "* scale[i / features]"), "--reduced")
    assert code == 1, text


def test_tensors_of_a_problem_may_be_on_a_gpu(tmp_path, monkeypatch):
    pytest.importorskip("warpproof._native")
    for inputs in ("torch.rand(100, 130).cuda()", "torch.rand(100, 130, device='cuda')", "torch.rand(100, 130).to('cuda:0')"):
        monkeypatch.setitem(globals(), "PROBLEM", PROBLEM.replace("torch.rand(100, 130)", inputs))
        code, text = kernelbench(tmp_path, SOLUTION.replace("torch.ones(features)", "torch.ones(features).cuda()"), "--reduced")
        assert code == 0, text
        assert "checks of 1 launches at the problem's own shapes: [100, 130]" in text


def test_the_command_says_why_a_problem_does_not_run(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PROBLEM", PROBLEM.replace("torch.rand(100, 130)", "torch.rand(100, 130) @ torch.rand(3)"))
    code, text = kernelbench(tmp_path, SOLUTION, "--reduced")
    assert code == 3 and "does not run at reduced shapes: RuntimeError: size mismatch" in text, text


def test_the_command_finds_what_only_full_shapes_show(tmp_path):
    pytest.importorskip("warpproof._native")
    # One block too few above 256 elements: at reduced shapes there is no error.
    wrong = SOLUTION.replace("(x.numel() + 255) / 256, 256", "x.numel() > 4096 ? x.numel() / 256 : (x.numel() + 255) / 256, 256")
    code, text = kernelbench(tmp_path, wrong, "--reduced")
    assert code == 1 and "1 launches" in text, text


def test_the_command_says_what_it_cannot_read(tmp_path):
    code, text = kernelbench(tmp_path, SOLUTION.replace("auto y = torch::empty_like(x);", "auto y = torch::erfinv(x);"), "--reduced")
    assert code == 3 and "torch::erfinv" in text, text
