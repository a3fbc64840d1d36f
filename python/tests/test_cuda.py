"""Kernels as CUDA C++ strings. NVRTC comes with `warpproof[cuda]`, and is found in this Python's environment."""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
import warpproof as wp

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nvidia") is None and not os.environ.get("WARPPROOF_REQUIRE_NVRTC"),
    reason="NVRTC is not installed",
)

SUM = """
extern "C" __global__ void row_sum(const float* x, float* y, int columns) {
    __shared__ float parts[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < columns; i += 64) sum += x[blockIdx.x * columns + i];
    parts[t] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) parts[t] += parts[t + half];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = parts[0];
}
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch, tmp_path):
    """No environment variable names the compiler, and nothing is cached."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("WARPPROOF_CACHE", str(tmp_path))


def test_a_string_is_a_kernel():
    kernel = wp.cuda(SUM, name="row_sum", arch="sm_80")
    # By parameter names, in any order.
    report = kernel[3, 64].check(columns=100, y=wp.out(3), x=wp.f32(3, 100))
    assert report.proved and report.data["file"] == "kernel.cu"
    assert wp.equiv("y[i] = sum(k, x[i,k])", kernel[3, 64], x=wp.f32(3, 100), y=wp.out(3), columns=100).proved
    x = np.arange(300, dtype="f4").reshape(3, 100)
    assert np.array_equal(kernel[3, 64].simulate(x=x, y=wp.out(3), columns=100)["y"], x.sum(1))


def test_findings_are_at_lines_of_the_string():
    kernel = wp.cuda(SUM.replace("        __syncthreads();\n", ""))
    report = kernel[3, 64].check(x=wp.f32(3, 100), y=wp.out(3), columns=100)
    assert report.refuted
    assert str(report.findings[0].locations[0]).startswith("kernel.cu:")
    assert "parts[t] += parts[t + half]" in report.text() and "/tmp" not in report.json()


def test_messages_of_the_compiler_are_usage_errors():
    with pytest.raises(wp.UsageError, match="colums"):
        wp.cuda(SUM.replace("i < columns", "i < colums"))[3, 64].check(x=wp.f32(3, 100), y=wp.out(3), columns=100)


WEIGHTS = np.array([0.5, 0.1, 1 / 3, 2.0, -1.25, 0.3, 7.0, 1e-3])


@pytest.mark.parametrize(
    "body, function, right",
    [
        ("y[i] = i * x[i];", lambda x: np.arange(8) * x, True),
        ("y[i] = (i + 1) * x[i];", lambda x: np.arange(8) * x, False),
        ("y[i] = x[7 - i];", lambda x: np.eye(8)[::-1] @ x, True),
        ("float s = 0; for (int j = 0; j <= i; j++) s += x[j]; y[i] = s;", lambda x: np.tri(8) @ x, True),
        ("float s = 0; for (int j = 0; j < i; j++) s += x[j]; y[i] = s;", lambda x: np.tri(8) @ x, False),
        ("const float w[8] = {0.5f, 0.1f, 1.0f / 3, 2, -1.25f, 0.3f, 7, 1e-3f}; y[i] = x[i] * w[i];", lambda x: x * WEIGHTS, True),
        ("const float w[8] = {0.5f, 0.1f, 1.0f / 3, 2, -1.25f, 0.31f, 7, 1e-3f}; y[i] = x[i] * w[i];", lambda x: x * WEIGHTS, False),
    ],
)  # fmt: skip
def test_functions_that_hold_arrays(body, function, right):
    kernel = wp.cuda(f'extern "C" __global__ void k(const float* x, float* y) {{ int i = threadIdx.x; {body} }}')
    report = wp.verify(function, kernel[1, 8](x=wp.f32(8), y=wp.out(8)))
    assert report.proved if right else report.refuted, report
