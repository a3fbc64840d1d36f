"""The commands as functions: kernels from paths and texts, answers, usage errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import warpproof as wp

from shared import EXAMPLES, ROOT

ARGUMENTS = {"x": wp.f32(4, 256), "y": wp.out(4, 256), "columns": 256}
#: A kernel without arithmetic on floats: it copies a vector.
COPY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r4, [%rd4];
    st.global.u32 [%rd5], %r4;
DONE:
    ret;
}
"""


def test_a_path_a_text_and_a_file_are_the_same_kernel(example):
    path = EXAMPLES / "online.ptx"
    with open(path) as file:
        kernels = [path, str(path), wp.ptx(path), wp.ptx(example("online.ptx")), wp.ptx(file)]
    for kernel in kernels:
        report = wp.check(kernel, ARGUMENTS, grid=4, block=64)
        assert report.proved and report.verdict == "proved"
        assert not report.refuted and not report.unknown and report.findings == []


def test_a_text_has_a_name_and_no_path_in_the_report(example):
    report = wp.ptx(example("racy.ptx"))[4, 64].check(**ARGUMENTS)
    assert report.refuted
    assert report.data["file"] == "kernel.ptx"
    assert {one.file for one in report.findings[0].locations} == {"kernel.ptx"}
    assert "/tmp" not in report.json() + report.text() + report.html()


def test_a_race_is_found_with_its_lines(example):
    report = wp.check(wp.ptx(example("racy.ptx"))[4, 64](**ARGUMENTS))
    (race,) = report.findings
    assert (race.code, race.kind, race.property) == ("WP0109", "race", "races")
    assert "racy.cu:19" in str(race)
    assert [one.verdict for one in report.properties if one.name == "races"] == ["refuted"]
    assert report.assumptions


def test_launches_are_written_in_several_ways():
    kernel = wp.ptx(COPY)
    arguments = {"x": wp.f32(100), "y": wp.out(100), "n": 100}
    for launch in (kernel[4, 32], kernel[(4,), (32, 1, 1)], kernel.launch(grid=4, block=[32]), kernel[4, 32, 0]):
        assert launch.check(**arguments).proved
    assert wp.check(kernel, arguments, grid=(4, 1), block=32, shared="1KiB").proved
    with pytest.raises(wp.UsageError, match="kernel\\[grid, block\\]"):
        kernel[4]


def test_two_kernels_with_launches_of_their_own(example):
    reference, online = wp.ptx(example("softmax.ptx")), wp.ptx(example("online.ptx"))
    report = wp.equiv(reference[4, 1], online[4, 64], **ARGUMENTS)
    assert report.proved
    assert report.data["file"] == "kernel.ptx" and report.data["reference"]["file"] == "reference.ptx"
    assert online[4, 64].equiv(reference[4, 1], **ARGUMENTS).proved
    assert wp.verify(reference[4, 1], online[4, 64](**ARGUMENTS)).proved


def test_options_have_the_words_of_the_command_line():
    kernel = wp.ptx(COPY)
    launch = kernel[4, 32](x=wp.f32(100), y=wp.out(100), n=100)
    assert "block" in launch.check(blocks="0..2").text()
    assert launch.check(timeout=30, max_instructions="20G", jobs=1, strict=True, allow="float-order").proved
    short = wp.ptx(COPY)[4, 32].check(x=wp.f32(100), y=wp.out(100), n=100, max_instructions=10)
    assert short.unknown and short.stopped
    other = wp.equiv(launch, launch, assume=["x >= 0"], compare="y[0:4]", snap=False, recheck=True)
    assert other.proved


def test_usage_errors_have_the_message_of_the_command_line(program):
    with pytest.raises(wp.UsageError) as told:
        wp.check(EXAMPLES / "racy.ptx")
    assert str(told.value).startswith("the number of blocks is not given: --grid")
    printed = program("check", str(EXAMPLES / "racy.ptx"))
    assert printed.returncode == 2
    assert printed.stderr.decode().strip() == f"error: {told.value}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": "f33[4]"}, "`f33` is not a type; did you mean f32?"),
        ({"x": object()}, "`x` is object; an argument is a tensor"),
        ({"x": None}, "`x` is NoneType"),
    ],
)
def test_arguments_that_are_none(arguments, message):
    with pytest.raises(wp.UsageError) as told:
        wp.ptx(COPY)[1, 32].check(**arguments)
    assert message in str(told.value)


def test_kernels_that_are_none(tmp_path: Path):
    for kernel, message in [
        (tmp_path / "no.ptx", "no.ptx"),
        (wp.ptx("no kernel\nat all"), "kernel.ptx"),
        (wp.ptx(COPY, name="move"), "move"),
        (3, "int is not a kernel"),
    ]:
        with pytest.raises(wp.UsageError, match=message):
            wp.check(kernel, grid=1, block=32)


def test_what_is_not_supported_is_unknown_and_no_exception():
    text = COPY.replace("ld.global.u32 %r4, [%rd4];", "ld.global.u32 %r4, [%rd4];\n    nanosleep.u32 %r4;")
    text = text.replace("nanosleep.u32 %r4", "tex.1d.v4.u32.s32 {%r4,%r4,%r4,%r4}, [%rd4, {%r4}]")
    report = wp.ptx(text)[4, 32].check(x=wp.f32(100), y=wp.out(100), n=100)
    assert report.unknown


def test_simulate_runs_on_arrays():
    x = np.arange(100, dtype="f4")
    ran = wp.ptx(COPY)[4, 32].simulate(x=x, y=wp.out(100), n=100)
    assert ran.finished and not ran.refuted
    assert ran["y"].dtype == np.float32 and np.array_equal(ran["y"], x)
    assert np.array_equal(ran.outputs["y"], x)
    assert "/tmp" not in ran.text()
    wrong = wp.ptx(COPY)[4, 32].simulate(x=x, y=wp.out(90), n=100)
    assert wrong.refuted and not wrong.finished and wrong.outputs == {}


def test_simulate_knows_types_that_numpy_has_not():
    text = COPY.replace(", 4;", ", 2;").replace("ld.global.u32 %r4", "ld.global.u16 %h").replace("[%rd5], %r4", "[%rd5], %h")
    text = text.replace("st.global.u32", "st.global.u16").replace(".reg .pred %p;", ".reg .pred %p; .reg .b16 %h;")
    x = np.array([1.0, -2.5, 3.140625, np.inf], dtype="f4")
    ran = wp.ptx(text)[1, 32].simulate(x=wp.known(x, "bf16"), y=wp.out(4, dtype="bf16"), n=4)
    assert np.array_equal(ran["y"], x)


def test_prove_takes_cuda_for_every_size(tmp_path: Path):
    kernel = """
// requires: n >= 0
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
    report = wp.prove(wp.cuda(kernel), no_solver=True, no_compare=True, no_cache=True)
    assert report.verdict in ("proved", "unknown", "refuted")
    assert list(report.kernels) == ["twice"]
    file = tmp_path / "twice.cu"
    file.write_text(kernel)
    assert wp.prove(file, no_solver=True, no_compare=True, no_cache=True).verdict == report.verdict
    two = wp.prove(wp.cuda(kernel + kernel.replace("twice", "again")), no_solver=True, no_compare=True, no_cache=True)
    assert set(two.kernels) == {"twice", "again"} and two.verdict == report.verdict


def test_prove_takes_a_formula_for_every_size():
    kernel = """
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
    options = {
        "arguments": {"x": "f32[n]", "y": "f32[n]"},
        "requires": "n <= blockDim.x*gridDim.x",
        "no_solver": True,
        "no_compare": True,
        "no_cache": True,
    }
    assert wp.prove(wp.cuda(kernel), ensures="y[i] = 2*x[i]", **options).proved
    wrong = wp.prove(wp.cuda(kernel), ensures="y[i] = 3*x[i]", **options)
    assert wrong.refuted and "formula:1" in str(wrong)


def test_a_formula_is_told_from_a_path():
    from warpproof.api import is_formula

    assert is_formula("y[i] = 2*x[i]") and is_formula("let m = sum(i, x[i])/6\ny[i] = x[i] - m")
    for path in (str(ROOT / "examples/softmax.ptx"), "a/b.ptx::kernel", COPY, "__global__ void f() { int a = 1; }", Path("a=b")):
        assert not is_formula(path)


def test_a_project_is_one_report(program):
    report = wp.run(ROOT / "examples/tutorial")
    assert report.verdict in ("proved", "refuted", "unknown")
    printed = program("run", str(ROOT / "examples/tutorial"), "--format", "json")
    assert printed.stdout == report.json().encode()
    assert len(report.kernels) >= 2
    assert all(f"{verdict}: " in report.text() and name in report.text() for name, verdict in report.kernels.items())
    with pytest.raises(wp.UsageError, match="no entry is called `nothing`"):
        wp.run(ROOT / "examples/tutorial", "nothing")
