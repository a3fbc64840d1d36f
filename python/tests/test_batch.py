"""Batches from Python: order, limits, equal jobs, failures, and rewards, which need a correct kernel."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import warpproof as wp

from shared import EXAMPLES, ROOT
from test_commands import ARGUMENTS

SOFTMAX = "y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))"
SPIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 to)
{
    .reg .b64 %rd<4>;
LOOP:
    add.u64 %rd3, %rd3, 1;
    bra LOOP;
}
"""


def launch(name: str) -> wp.Launch:
    return wp.ptx((EXAMPLES / name).read_text())[4, 64](**ARGUMENTS)


def jobs() -> list[wp.Job]:
    return [
        wp.job(wp.check, launch("online.ptx"), id="proved"),
        wp.job(wp.check, launch("racy.ptx")),
        wp.job(wp.check, launch("online.ptx"), id="again"),
        wp.job(wp.check, wp.ptx(SPIN)[1, 1](to=wp.out(1)), max_instructions=1000),
        wp.Job(("check", "missing.ptx")),
    ]


def test_results_are_those_of_the_calls():
    results = list(wp.batch(jobs(), workers=2))
    assert [one.id for one in results] == ["proved", 1, "again", 3, 4]
    assert [one.index for one in results] == [0, 1, 2, 3, 4]
    assert [one.verdict for one in results] == ["proved", "refuted", "proved", "unknown", "invalid"]
    assert [one.limit for one in results] == [None, None, None, "steps", None]
    alone = launch("racy.ptx").check()
    report = results[1].report
    assert report is not None and report.data == alone.data
    assert "race" in results[1].feedback()
    assert "missing.ptx" in results[4].feedback()
    assert list(wp.batch(jobs(), workers=1)) == results


def test_dictionaries_are_jobs_and_jobs_may_be_endless():
    def endless():
        number = 0
        while True:
            yield {"id": number, "command": ["check", f"missing{number}.ptx"]}
            number += 1

    seen = []
    for result in wp.batch(endless(), workers=1):
        seen.append(result.id)
        if len(seen) == 5:
            break
    assert seen == [0, 1, 2, 3, 4]


def test_mistakes_are_raised():
    with pytest.raises(wp.UsageError, match="is not a job"):
        list(wp.batch(["check"]))  # type: ignore[list-item]
    with pytest.raises(wp.UsageError, match="max-memory"):
        list(wp.batch([], max_memory="much"))
    with pytest.raises(wp.UsageError, match="a job is a call"):
        wp.job(print, "x")
    with pytest.raises(wp.UsageError, match="no arrays"):
        np = pytest.importorskip("numpy")
        wp.job(wp.simulate, launch("online.ptx"), x=np.ones((4, 256), "f4"))

    def broken():
        yield jobs()[0]
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(wp.batch(broken()))


def test_a_task_on_a_cluster_reserves_the_memory_of_its_jobs():
    from warpproof.ray import reserved

    nodes = [{"Resources": {"memory": 1 << 30}}, {"Resources": {"CPU": 1.0, "memory": float(2 << 30)}}, {"Resources": {}}]
    assert reserved(["--timeout=5"], nodes) is None
    for text, size in [("512M", 512 << 20), ("512MiB", 512 << 20), ("2G", 2 << 30), ("77", 77), ("1k", 1024)]:
        assert reserved([f"--max-memory={text}"], nodes) == size
    with pytest.raises(wp.UsageError, match="largest node of the cluster has 2048 MiB"):
        reserved(["--max-memory=3G"], nodes)
    # The engine reports what is no size.
    assert reserved(["--max-memory=much"], nodes) is None


def test_the_module_is_the_program(tmp_path):
    (tmp_path / "jobs.jsonl").write_text("".join(job.line() + "\n" for job in jobs()))
    command = [sys.executable, "-m", "warpproof", "batch", "jobs.jsonl", "-o", "results.jsonl", "-j2"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "5 jobs: 2 proved, 1 refuted, 1 unknown, 1 bad input, 1 copied\n"
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert lines == [one.line() for one in wp.batch(jobs())]
    assert json.loads(lines[0])["verdict"] == "proved"


def test_a_reward_is_a_proof():
    asked = [wp.job(wp.equiv, SOFTMAX, launch(name)) for name in ("online.ptx", "racy.ptx", "broken.ptx")]
    scored = list(wp.Reward(grades=True)(asked))
    assert [one.reward for one in scored] == [1.0, 0.0, 0.0]
    grades = [one.grade for one in scored]
    assert grades[0] == 1.0 and None not in grades and max(grades[1:]) < 1.0
    assert all(len(one.feedback) <= 1500 for one in scored)
    assert wp.reward(asked[0]).grade is None
    # The same bytes again.
    assert [one.feedback for one in wp.Reward()(asked)] == [one.feedback for one in scored]


#: Kernels that pass a test with a tolerance, or on inputs of the test's distribution, but do not compute y = max(x,
#: 0).
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry cheat(.param .u64 x, .param .u64 y, .param .u64 expected)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<8>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd6, [expected];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    add.u64 %rd7, %rd6, %rd3;
"""
HONEST = "    ld.global.f32 %f1, [%rd4];\n    max.f32 %f2, %f1, 0f00000000;\n    st.global.f32 [%rd5], %f2;\n    ret;\n}\n"
EXPLOITS = {
    "a constant": "    mov.f32 %f2, 0f3F000000;\n    st.global.f32 [%rd5], %f2;\n    ret;\n}\n",
    "zeros": "    mov.f32 %f2, 0f00000000;\n    st.global.f32 [%rd5], %f2;\n    ret;\n}\n",
    "nothing at all": "    ret;\n}\n",
    "half of the work": "    setp.ge.u32 %p1, %r1, 16;\n    @%p1 bra END;\n" + HONEST.replace("    ret;", "END:\n    ret;"),
    "the reference's buffer": "    ld.global.f32 %f2, [%rd7];\n    st.global.f32 [%rd5], %f2;\n    ret;\n}\n",
    "the input in place of the output": "    ld.global.f32 %f2, [%rd4];\n    st.global.f32 [%rd5], %f2;\n    ret;\n}\n",
    "an input that is changed": HONEST.replace("    ret;", "    st.global.f32 [%rd4], %f2;\n    ret;"),
    "wrong for large numbers": HONEST.replace("    st.", "    min.f32 %f2, %f2, 0f49742400;\n    st.", 1),
    "a little too much": HONEST.replace("    st.", "    add.f32 %f2, %f2, 0f358637BD;\n    st.", 1),
    "one element": HONEST.replace("    st.", "    setp.eq.u32 %p1, %r1, 31;\n    @%p1 mov.f32 %f2, 0f00000000;\n    st.", 1),
}


def relu(body: str) -> wp.Job:
    kernel = wp.ptx(HEAD + body)[1, 32]
    return wp.job(wp.equiv, "y[i] = max(x[i], 0)", kernel(x=wp.f32(32), y=wp.out(32), expected=wp.scratch(32)))


def test_exploits_are_worth_nothing():
    reward = wp.Reward()
    scored = list(reward([relu(HONEST), *map(relu, EXPLOITS.values())]))
    assert scored[0].reward == 1.0, scored[0].feedback
    for name, one in zip(EXPLOITS, scored[1:]):
        assert one.reward == 0.0, name
        assert one.result.verdict == "refuted", (name, one.feedback)


def test_what_the_author_assumes_is_no_proof():
    text = """
    //@ requires n == 0;
    extern "C" __global__ void k(const float* x, float* y, int n) {
        int i = blockIdx.x*blockDim.x + threadIdx.x;
        if (i < n) y[i] = 3*x[i];
    }
    """
    options = {"arguments": {"x": "f32[n]", "y": "f32[n]:out"}, "requires": "n <= blockDim.x*gridDim.x"}
    options |= {"no_solver": True, "no_compare": True, "no_cache": True}
    one = wp.reward(wp.job(wp.prove, wp.cuda(text), ensures="y[i] = 2*x[i]", **options), grades=True)
    assert one.reward == 0.0 and one.grade == 0.3
    assert one.feedback.startswith("not rewarded, because the kernel itself brings this about: requires n == 0")
    assert one.result.report.from_kernel == ["requires n == 0"]
    honest = text.replace("//@ requires n == 0;", "").replace("3*x", "2*x")
    assert wp.reward(wp.job(wp.prove, wp.cuda(honest), ensures="y[i] = 2*x[i]", **options)).reward == 1.0


def test_state_between_launches_is_no_proof():
    count = ".visible .global .align 4 .u32 calls = 0;\n"
    body = """    mov.u64 %rd3, calls;
    ld.global.u32 %r2, [%rd3];
    setp.ne.u32 %p1, %r2, 0;
    ld.global.f32 %f1, [%rd4];
    max.f32 %f2, %f1, 0f00000000;
    @%p1 mov.f32 %f2, 0f3F000000;
    st.global.f32 [%rd5], %f2;
    mov.u32 %r3, 1;
    setp.eq.u32 %p2, %r1, 0;
    bar.sync 0;
    @%p2 st.global.u32 [%rd3], %r3;
    ret;
}
"""
    job = relu(body)
    files = {name: text.replace(".visible .entry", count + ".visible .entry") for name, text in job.files.items()}
    one = wp.reward(wp.Job(job.command, files))
    assert one.result.verdict == "proved" and one.reward == 0.0, one.feedback
    assert "module variable `calls`" in one.feedback


def test_a_name_changes_nothing():
    body = EXPLOITS["wrong for large numbers"]
    one, other = wp.reward(relu(body)), wp.reward(relu(body).__class__(relu(body).command, {
        name: text.replace("cheat", "honest") for name, text in relu(body).files.items()
    }))
    assert one.reward == other.reward
    assert one.feedback == other.feedback.replace("honest", "cheat")


def test_the_code_of_the_chapter_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "batch.md").read_text()
    code = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    scope: dict[str, object] = {}
    for text in code:
        exec(compile(text, "batch.md", "exec"), scope)
    shown = capsys.readouterr().out
    assert "online proved None" in shown and "racy refuted None" in shown
