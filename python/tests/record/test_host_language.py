"""C++ of host functions: what is computed is what a compiler computes; the rest is refused by name. Needs torch."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from warpproof.record import Untraceable, extensions  # noqa: E402
from warpproof.record.cuda_host import Host  # noqa: E402
from warpproof.record.cuda_source import split_source  # noqa: E402


def run(body, text="", kind="float"):
    source = split_source(f"{text}\n{kind} f(int n) {{\n{body}\n}}")
    return Host(source, lambda *_: None).call("f", [1])


@pytest.mark.parametrize(
    "body, text, want",
    [
        ("float s = 3; { float s = 2; } return s;", "", 3),
        ("float s = 3; if (n > 0) { float s = 2; } return s;", "", 3),
        ("float s = 3; if (n > 0) float s = 2; return s;", "", 3),
        ("int i = 3; for (int i = 0; i < 2; ++i) {} return i;", "", 3),
        ("int s = 1; { s = 3; } return s;", "", 3),
        ("int j = 0; for (int i = 0; i < 3; ++i, ++j) {} return j;", "", 3),
        ("return g();", "int g() { return 3.7f; }", 3),
        ("return g(7);", "float g(int m) { m = m / 2.f; return m; }", 3),
        ("auto k = 5; k = 3.9f; return k;", "", 3),
        ("const int A = 7; return B + A;", "const int A = 1;\nconst int B = A + 1;", 9),
        ("return A;", "const int A = 3.9;", 3),
        ("return ONE + SQ(1+1);", "#define SQ(a) a*a\n#define ONE 0", 3),
        ("return A*2;", "#define A 2-1", 0),
        ("return A;\n", "/*\n#define A 2\n*/\n#define A 3 // 4", 3),
        ("float s = 3; // s = \\\n s = 2;\n return s;", "", 3),
        ("return (n > 0 ? 7 : 1.f) / 2;", "", 3.5),
        ("return (n > 0 ? 7 : 1) / 2;", "", 3),
        ("return n > 5 ? 100 / (n - 1) : 3;", "", 3),
        ("return a(1);", "#define a(x) b(x + 1, ((1), 2))\n#define b(x, y) x + 2", 4),
        ("CALL(s = 3, s += 1) return s;", "#define CALL(x, ...) float x; __VA_ARGS__;", 4),
        ("std::vector<float> v{5, 6}; return v[0] / 2;", "", 2.5),
        ("return std::min<int64_t>(n, 5) + std::max(1u, 2u);", "", 3),
        ("return -2147483648 + 2147483647;", "", -1),
        ("return sizeof(float) - 1;", "", 3),
        ("float h = 0.1f; int k = 10 * h + 0.5f; return k;", "", 1),
        ("half h = 0.5f; return h > 0.25f;", "", 1),
        ("int k; cudaDeviceGetAttribute(&k, 1, 0); printf(\"%d\", k); return n + 2;", "", 3),
    ],
)  # fmt: skip
def test_the_host_is_read_as_a_compiler_reads_it(body, text, want):
    assert run(body, text) == want


@pytest.mark.parametrize(
    "body, text, words",
    [
        ("static int first = 1; first = 0; return first;", "", "`static`"),
        ("static const int k = n; return k;", "", "`static`"),
        ("unsigned a = 0; a--; return a > 0;", "", "-1 does not fit"),
        ("unsigned a = 0; return a - 1 > 0;", "", "-1 does not fit"),
        ("int a = -1; unsigned b = 1; return a < b;", "", "-1 does not fit"),
        ("return sizeof(float) - 5 > 0;", "", "-1 does not fit"),
        ("unsigned m = 1; return -m > 0;", "", "-1 does not fit"),
        ("return -1u > 0;", "", "-1 does not fit"),
        ("int a = 65536; int64_t b = a*a; return b > 0;", "", "4294967296 does not fit into `int`"),
        ("int a = 2147483647; a++; return a > 0;", "", "does not fit"),
        ("short a = 32767; a += 1; return a;", "", "does not fit into `short`"),
        ("unsigned char a = 255; a += 1; return a;", "", "does not fit into `unsigned char`"),
        ("return 1 << 31;", "", "does not fit"),
        ("return 1 << 40;", "", "shift"),
        ("int i = 0, j = 0; i++, j++; return j;", "", "behind an expression"),
        ("int m = 2; int& r = m; r = 3; return m;", "", "reference"),
        ("int m = 2; const int& r = m; m = 3; return r;", "", "reference"),
        ("float s = 2; bump(s); return s;", "void bump(float& v) { v = 3; }", "assignment to `v`"),
        ("set(); return 1;", "int mode = 2;\nvoid set() { mode = 3; }", "assignment to `mode`"),
        ("return g(1);", "float g(int a) { return 3; }\nfloat g(float a) { return 2; }", "two functions"),
        ("return g<1>();", "template <int N> float g() { return 2; }\ntemplate <> float g<1>() { return 3; }", "template"),
        ("return min(n, 2);", "float min(float a, float b) { return 3; }", "library"),
        ("return S;", "#define S 2\n#undef S\n#define S 3", "more than once"),
        ("return S;", "#if 0\n#define S 2\n#else\n#define S 3\n#endif", "under a condition"),
        ("float s = 3;\n#ifdef NOPE\n s = 2;\n#endif\nreturn s;", "", "condition of the preprocessor"),
        ("return g();", "#if 0\nint g() { return 2; }\n#endif", "condition of the preprocessor"),
        ("return CAT(n, n);", "#define CAT(a, b) a##b", "joins tokens"),
        ("return 'a' - 'a';", "", "'a'"),
        ("if (n > 5) switch (n) { default: return 1; } return 2;", "", "switch"),
        ("real s = 2.5; return s;", "typedef int real;", "`real`"),
        ("float s = 3; { float s = s; return s; }", "", "declaration"),
        ("std::vector<int> v(3, 1); return v[0];", "", "declaration"),
        ("return 0.1f == 0.1;", "", "rounding"),
        ("int k = 2; cudaDeviceGetAttribute(&k, 1, 0); return k;", "", "`k`, which has no value"),
        ("C10_CUDA_CHECK(cudaMemset(0, 0, n)); return 1;", "", "cudaMemset"),
        ("printf(\"\", n++); return n;", "", "printf"),
        ("return pow(-1, 0.5f);", "", "pow"),
        ("return 0.1f + 0.2f - 0.3f > 0;", "", "rounding"),
        ("if (0.1f + 0.2f - 0.3f) return 1; return 0;", "", "rounding"),
        ("return !(0.1f + 0.2f - 0.3f);", "", "rounding"),
        ("int k = 0; for (float t = 0; t < 1000.05f; t += 0.1f) k++; return k;", "", "rounding"),
        ("return 1e-30f * 1e-30f > 0;", "", "rounding"),
        ("half h = 2049.0f; int k = h; return k;", "", "rounding"),
        ("half h = 70000.0f; return h > 1;", "", "as `half`"),
        ("int k = 16777216.0f * 3 + 1 - 16777216.0f * 3; return k;", "", "rounding"),
        ("int k = 1 / (0.1f + 0.2f - 0.3f + 1e-9f); return k;", "", "zero"),
        ("auto t = torch::kFloat; return sizeof(t);", "", "size"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_refused(body, text, words):
    with pytest.raises(Untraceable, match=words):
        run(body, text)


def test_the_sign_of_zero():
    assert math.copysign(1.0, run("float z = 0; return -z;")) == -1.0


def test_names_of_an_extension_are_not_ambiguous():
    text = "torch::Tensor f(torch::Tensor x) { return x; }\ntorch::Tensor g(torch::Tensor x) { return x; }\n"
    with pytest.raises(Untraceable, match="by one name"):
        extensions.load_inline("extension", cpp_sources="", cuda_sources=text + 'PYBIND11_MODULE(a, m) { m.def("f", &f); m.def("f", &g); }')
    made = extensions.load_inline("extension", cpp_sources="", cuda_sources=text + 'PYBIND11_MODULE(a, m) { m.def("f", &f); // m.def("f", &g);\n}')
    assert callable(made.f)
    both = extensions.load_inline("extension", cpp_sources=text, cuda_sources=text, functions=["f"])
    with pytest.raises(Untraceable, match="two functions"):
        both._host.call("f", [None])


@pytest.mark.parametrize("body, want", [("s = 3;", 3), ("float s = 2;", 1), ("if (n > 0) { return; } s = 2;", 1), (None, None)])
def test_the_body_of_a_dispatch_is_a_function_of_its_own(body, want):
    def f(lambda_):
        text = f"int f(torch::Tensor x, int n) {{ int s = 1; AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"f\", ({lambda_})); return s; }}"
        return Host(split_source(text), lambda *_: None).call("f", [torch.empty(4), 1])

    if body is None:
        with pytest.raises(Untraceable, match="AT_DISPATCH"):
            f("[=]() mutable { s = 2; }")
    else:
        assert f(f"[&] {{ {body} }}") == want


KERNEL = "__global__ void k(float* y, float s) { y[0] = s; }\n"


@pytest.mark.parametrize(
    "text, words",
    [
        (KERNEL + KERNEL.replace("float s", "int s"), "two kernels"),
        (KERNEL.replace("float s", "\n#if 0\nfloat s\n#else\nint s\n#endif\n"), "directive"),
        ("#define NAME s\n" + KERNEL.replace("float s", "float NAME"), "macro"),
    ],
)
def test_signatures_of_kernels_that_are_refused(text, words):
    assert words in split_source(text).refused["k"]


def test_kernels_may_use_what_the_host_does_not_read():
    source = split_source("#define CAT(a, b) a##b\n#ifdef __CUDA_ARCH__\n#define N 1\n#endif\n" + KERNEL.replace("= s", "= CAT(s, ) + N"))
    assert not source.refused.get("k") and source.kernels["k"].parameters == (("float *", "y"), ("float", "s"))
    assert "CAT(s, ) + N" in source.device and "#ifdef" in source.device
