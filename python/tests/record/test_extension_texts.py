"""Texts of CUDA extensions that mean something else to torch's compilers than at first sight: none of them is proved.

What is not read as those compilers read it is refused. Needs torch and Triton; proofs need the built package and NVRTC.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from warpproof.record import Untraceable, extensions, record  # noqa: E402
from warpproof.record.cuda_source import split_source  # noqa: E402

TWICE = """
__global__ void twice_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
FOUR_TIMES = TWICE.replace("2 *", "4 *")
HOST = """
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    twice_kernel<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
OTHER = HOST.replace("twice(torch", "other(torch").replace("auto y = torch::empty_like(x);", "auto y = torch::zeros_like(x);")


def loaded(cuda, cpp="", functions=("twice",), **options):
    return extensions.load_inline("extension", cpp_sources=cpp, cuda_sources=cuda, functions=functions and list(functions), **options)


def recorded(made, name="twice", *arguments):
    return record(lambda x: getattr(made, name)(x, *arguments), torch.empty(40))


def refused(words, cuda, *, host=None, **options):
    """Refuses an extension when it is loaded or when it is called."""
    with pytest.raises(Untraceable, match=words):
        recorded(loaded(cuda, **options), host or "twice")


def test_the_plain_extension_is_recorded():
    (step,) = recorded(loaded(TWICE + HOST)).steps
    assert (step.kernel, step.grid) == ("twice_kernel", (1, 1, 1))


def test_texts_are_one_text():
    # torch joins them: a macro of the first one changes kernels of the second one.
    refused("two functions", [HOST, TWICE + HOST])
    made = loaded(["#define FACTOR 4\n", TWICE.replace("2 *", "FACTOR *") + HOST])
    (step,) = recorded(made).steps
    assert "#define FACTOR 4" in step.ptx


def test_kernels_of_one_name_in_two_files(tmp_path):
    (tmp_path / "a.cu").write_text("static" + TWICE)
    (tmp_path / "b.cu").write_text("static" + FOUR_TIMES + HOST + 'PYBIND11_MODULE(M, m) { m.def("twice", &twice); }')
    made = extensions.load("extension", [str(tmp_path / "a.cu"), str(tmp_path / "b.cu")])
    with pytest.raises(Untraceable, match="two kernels of one name"):
        recorded(made)


@pytest.mark.parametrize("flag", ["-DFACTOR=4", "-UFACTOR", "--include=other.h", "-I/elsewhere"])
def test_flags_that_change_the_text(flag):
    text = "#ifndef FACTOR\n#define FACTOR 2\n#endif\n" + TWICE.replace("2 *", "FACTOR *") + HOST
    refused("flag", text, extra_cuda_cflags=[flag])
    refused("flag", text, extra_cflags=[flag])


def test_flags_that_do_not():
    flags = ["-O3", "--use_fast_math", "-lineinfo", "-std=c++17", "-arch=sm_80", "-gencode=arch=compute_80,code=sm_80", "-Xptxas=-v", "--expt-relaxed-constexpr"]
    assert recorded(loaded(TWICE + HOST, extra_cuda_cflags=flags, extra_cflags=["-O3"], verbose=False, with_cuda=True)).steps


def test_a_macro_in_the_name_of_an_exported_function():
    refused("macro", TWICE + HOST + OTHER, cpp="torch::Tensor other(torch::Tensor x);\n#define twice other")
    module = 'PYBIND11_MODULE(M, m) { m.def("twice", &twice); }'
    refused("macro", TWICE + HOST + OTHER, cpp="torch::Tensor other(torch::Tensor x);\n#define twice other\n" + module, functions=None)


def test_bindings_under_a_condition():
    module = 'PYBIND11_MODULE(M, m) {\n#if 0\n m.def("twice", &twice);\n#endif\n}'
    refused("condition", TWICE + HOST, cpp="torch::Tensor twice(torch::Tensor x);\n" + module, functions=None)


@pytest.mark.parametrize("condition", ["ifdef __CUDACC_RTC__", "ifndef __NVCC__", "if TORCH_VERSION_MAJOR >= 2", "if __has_include(<torch/types.h>)", "ifdef NDEBUG"])
def test_conditions_on_what_only_some_compilers_define(condition):
    text = TWICE.replace("if (i < n)", f"\n#{condition}\n    const float f = 2;\n#else\n    const float f = 4;\n#endif\n    if (i < n)").replace("2 *", "f *")
    refused("condition of the preprocessor", text + HOST)


def test_conditions_on_the_text_and_the_target():
    text = "#define FAST 1\n" + TWICE.replace("if (i", "\n#if FAST && __CUDA_ARCH__ >= 700 && !defined(USE_ROCM)\n#endif\n    if (i")
    assert recorded(loaded(text + HOST)).steps


def test_deduced_arguments_of_a_template():
    # The compiler deduces `double`; the default is not what is launched.
    text = """template <typename T = float>
__global__ void twice_kernel(const float* x, float* y, int n, const T* tag) {
    if (threadIdx.x < n) y[threadIdx.x] = sizeof(T) / 2 * x[threadIdx.x];
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    auto tag = torch::zeros({4}, x.options().dtype(torch::kFloat64));
    twice_kernel<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), tag.data_ptr<double>());
    return y;
}
"""
    refused("deduced", text)


@pytest.mark.parametrize("hidden", ["constexpr int F = std::max(4, 3);", "using F_t = std::int8_t; constexpr int F = sizeof(F_t) + 3;"])
def test_a_definition_that_the_compiler_for_the_gpu_does_not_get(hidden):
    name = "F_t" if "F_t" in hidden else "F"
    outer = "using F_t = int16_t;\nconstexpr int F = 2;\n"
    text = outer + "namespace inner {\n" + hidden + TWICE.replace("2 *", "sizeof(F_t) *" if name == "F_t" else "F *") + HOST + "}\n"
    refused(f"`{name}`", text)


@pytest.mark.parametrize("launch", ["twice_kernel, other_kernel<<<1, 64>>>", "twice_kernel ? twice_kernel : other_kernel<<<1, 64>>>"])
def test_what_stands_before_a_launch(launch):
    text = TWICE + TWICE.replace("twice_kernel", "other_kernel").replace("2 *", "4 *") + HOST.replace("twice_kernel<<<(x.numel() + 63) / 64, 64>>>", launch)
    refused("launch", text)


def test_functions_with_the_names_of_calls_that_are_left_out():
    text = TWICE + HOST.replace("return y;", "printf(y); return y;") + "void printf(torch::Tensor y) { twice_kernel<<<1, 64>>>(y.data_ptr<float>(), y.data_ptr<float>(), y.numel()); }"
    refused("library", text)


def test_arguments_are_converted_as_pybind_does():
    made = loaded(TWICE + HOST.replace("torch::Tensor x)", "torch::Tensor x, int64_t k)"))
    assert recorded(made, "twice", 3).steps
    with pytest.raises(Untraceable, match="float"):
        recorded(made, "twice", 3.0)


@pytest.mark.parametrize(
    "body, words",
    [
        ("auto y = torch::empty_like(x, torch::TensorOptions().device(torch::kCPU));", "memory of the CPU"),
        ("auto y = torch::empty_like(x, x.options().device(torch::kCPU));", "memory of the CPU"),
        ("auto y = torch::full({40}, 1, torch::TensorOptions().device(torch::kCUDA));", "float32 of a tensor of torch.int64"),
        ("auto y = torch::empty({40}, torch::TensorOptions().device(torch::Device(torch::kCUDA, 1)));", "Device"),
    ],
)  # fmt: skip
def test_options_of_new_tensors(body, words):
    refused(words, TWICE + HOST.replace("auto y = torch::empty_like(x);", body))


def test_options_that_are_left_out_are_those_of_the_tensor():
    text = HOST.replace("auto y = torch::empty_like(x);", "auto h = x.to(torch::kFloat64); auto y = torch::empty_like(h, torch::TensorOptions().device(torch::kCUDA));")
    refused("float32 of a tensor of torch.float64", TWICE + text)
    text = HOST.replace("auto y = torch::empty_like(x);", "auto y = x.to(torch::kFloat64).to(torch::TensorOptions().device(torch::kCUDA));")
    refused("float32 of a tensor of torch.float64", TWICE + text)


@pytest.mark.parametrize(
    "name, dtype, ok",
    [
        ("AT_DISPATCH_FLOATING_TYPES(x.scalar_type(),", "float32", True), ("AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(),", "float16", True),
        ("AT_DISPATCH_ALL_TYPES(x.scalar_type(),", "float32", True), ("AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(),", "bfloat16", True),
        ("AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(),", "bfloat16", False), ("AT_DISPATCH_FLOATING_TYPES_AND(at::kHalf, x.scalar_type(),", "bfloat16", False),
        ("AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(),", "float32", False), ("AT_DISPATCH_COMPLEX_TYPES(x.scalar_type(),", "float32", False),
        ("AT_DISPATCH_SWITCH(x.scalar_type(), \"f\", AT_DISPATCH_CASE(at::kDouble,", "float32", False),
    ],
)  # fmt: skip
def test_types_of_a_dispatch(name, dtype, ok):
    case = "" if "SWITCH" in name else ' "f",'
    text = "torch::Tensor twice(torch::Tensor x) { auto y = x; " + f"{name}{case} [&] {{ y = x + x; }}{')' if not case else ''}); return y; }}"
    made = loaded(text)
    if ok:
        assert record(lambda x: made.twice(x), torch.empty(40, dtype=getattr(torch, dtype))).outputs
    else:
        with pytest.raises(Untraceable, match="AT_DISPATCH"):
            record(lambda x: made.twice(x), torch.empty(40, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize(
    "body, words",
    [
        ("if (x.narrow(0, 0, 0).data_ptr<float>()) { }", "no elements"),
        ("int64_t a = (int64_t)x.data_ptr<float>(); int b = a;", "address"),
        ("bool b = x.data_ptr<float>(); if (b) { return x; }", None),
    ],
)
def test_addresses_as_numbers(body, words):
    text = TWICE + HOST.replace("auto y", f"{body} auto y")
    if words is None:
        assert recorded(loaded(text)).outputs
    else:
        refused(words, text)


def test_a_pointer_behind_another_name():
    refused("address", "typedef float* out_t;\n" + TWICE.replace("float* y", "out_t y") + HOST)


def test_the_names_of_renamed_parameters_are_free():
    # `x` is renamed, because the tensors have the names of the caller; the kernel has a name of its own behind it.
    text = TWICE.replace("if (i < n)", "{ const float* x_parameter = y; if (i < n) y[i] = 2 * x[i]; return; } if (i < n)")
    made = loaded(text + HOST)
    (step,) = record(lambda y, x: made.twice(y), torch.empty(40), torch.empty(40)).steps
    assert "2 * x[i]" in step.ptx or "2 * x_parameter_[i]" in step.ptx
    assert split_source(text).kernels
