#!/usr/bin/env python3
"""Writes job files for `warpproof batch`: small pairs of corpus/equiv, each renamed so that no two jobs are equal.

    tools/batch_jobs.py pairs > pairs.jsonl                       # every pair of two kernels in PTX, once
    warpproof batch pairs.jsonl -o answers.jsonl
    tools/batch_jobs.py many pairs.jsonl answers.jsonl 10000 > jobs.jsonl
    tools/batch_jobs.py many pairs.jsonl answers.jsonl 10000 --poison > poisoned.jsonl

`many` takes the settled pairs whose kernels execute at most 20 000 thread instructions together, and renames their
kernels. With --poison one job in a hundred is bad: an endless loop, an exponential term, a malformed line, malformed
PTX, a missing file, or CUDA C++ that does not compile. With --fast=SECONDS only pairs that took at most that long are
taken (from answers with --timings).
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus" / "equiv"
SMALL = 20_000

SPIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 to)
{
    .reg .b64 %rd<4>;
    mov.u64 %rd3, 0;
LOOP:
    add.u64 %rd3, %rd3, 1;
    bra LOOP;
}
"""

#: A tree of terms that doubles with every step: memory runs out before time does.
EXPLODE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry explode(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
    ld.global.f32 %f1, [%rd1];
LOOP:
    ld.global.f32 %f2, [%rd1];
    fma.rn.f32 %f1, %f1, %f2, %f1;
    add.u64 %rd1, %rd1, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r1;
    @%p bra LOOP;
    st.global.f32 [%rd2], %f1;
    ret;
}
"""


def alone(text: str, kernel: str | None) -> str | None:
    """Returns a module with only one of its kernels and no debugging information, or `None` if the kernel needs more
    than itself.
    """
    text = re.sub(r"(?m)^\s*\.(loc|file)\b.*\n", "", text)
    text = re.split(r"(?m)^\s*\.section\b", text)[0]
    entries = list(re.finditer(r"(?m)^\s*(?:\.visible\s+|\.weak\s+)?\.(?:entry|func)\b", text))
    if not entries:
        return None
    head = text[: entries[0].start()]
    starts = [entry.start() for entry in entries] + [len(text)]
    bodies = [text[start:end] for start, end in zip(starts, starts[1:])]
    found = [body for body in bodies if kernel is None or re.search(rf"\.entry\s+{re.escape(kernel)}\b", body)]
    if len(found) != 1 or "call" in found[0] or ".func" in found[0]:
        return None
    return re.sub(r"(?m)^\s*//.*\n", "", head + found[0])


def pairs() -> None:
    for path in sorted(CORPUS.rglob("*.pair")):
        lines = [line.partition(": ") for line in path.read_text().splitlines()]
        values = {key: [value for other, _, value in lines if other == key] for key, _, _ in lines}
        files, words = {}, ["equiv"]
        for name, side in (("a.ptx", values["ref"][0]), ("b.ptx", values["opt"][0])):
            file, _, kernel = side.partition("::")
            text = alone((path.parent / file).read_text(), kernel or None)
            if text is None:
                break
            files[name] = text
            words.append(name)
        if len(files) == 2:
            flags = [word for line in values.get("flags", []) for word in shlex.split(line)]
            name = str(path.relative_to(CORPUS).with_suffix(""))
            print(json.dumps({"id": name, "command": words + flags, "files": files}))


def renamed(job: dict, number: int) -> dict:
    files = {}
    for name, text in job["files"].items():
        kernel = re.search(r"\.entry\s+([\w$]+)", text)
        assert kernel is not None
        files[name] = re.sub(rf"(?<![.\w$]){re.escape(kernel[1])}(?=\b|_param)", f"{kernel[1]}_{number}", text)
    return {"id": f"{job['id']}#{number}", "command": job["command"], "files": files}


def poisoned(number: int) -> str:
    launch = ["--grid", "1", "--block", "1"]
    out = ["--arg", "to=f32[1]:out"]
    kind = number % 6
    if kind == 0:
        text = SPIN.replace("spin", f"spin_{number}")
        return json.dumps({"id": f"endless#{number}", "command": ["check", "k.ptx", *launch, *out], "files": {"k.ptx": text}})
    if kind == 1:
        text = EXPLODE.replace("explode", f"explode_{number}")
        words = ["equiv", "k.ptx", "k.ptx", *launch, "--arg", "x=f32[100000000]", "--arg", "y=f32[1]:out", "--arg", "n=100000000"]
        return json.dumps({"id": f"explodes#{number}", "command": words, "files": {"k.ptx": text}})
    if kind == 2:
        return f'{{"id": "malformed#{number}", "command": ["check", '
    if kind == 3:
        text = SPIN.replace("bra LOOP;", f"bra {{{number}")
        return json.dumps({"id": f"ptx#{number}", "command": ["check", "k.ptx", *launch, *out], "files": {"k.ptx": text}})
    if kind == 4:
        return json.dumps({"id": f"missing#{number}", "command": ["check", f"no-such-{number}.ptx", *launch, *out]})
    text = f"template <int N> struct F {{ F<N + 1> next; }}; F<{number}> f; __global__ void k(float* to) {{ *to = f.x; }}"
    return json.dumps({"id": f"compiler#{number}", "command": ["check", "k.cu", *launch, *out], "files": {"k.cu": text}})


def many(jobs: str, answers: str, count: int, poison: bool, fast: float | None) -> None:
    small = []
    for line, answer in zip(open(jobs), open(answers)):
        result = json.loads(answer)
        settled = result["verdict"] in ("proved", "refuted")
        if settled and result["report"]["stats"]["thread_instructions"] <= SMALL:
            if fast is None or result.get("timing", {}).get("seconds", 1) <= fast:
                small.append(json.loads(line))
    print(f"{len(small)} small pairs", file=sys.stderr)
    for number in range(count):
        if poison and number % 100 == 50:
            print(poisoned(number // 100))
        else:
            print(json.dumps(renamed(small[number % len(small)], number)))


if __name__ == "__main__":
    limit = next((float(word.partition("=")[2]) for word in sys.argv if word.startswith("--fast=")), None)
    if sys.argv[1:2] == ["pairs"]:
        pairs()
    elif sys.argv[1:2] == ["many"] and len(sys.argv) >= 5:
        many(sys.argv[2], sys.argv[3], int(sys.argv[4]), "--poison" in sys.argv, limit)
    else:
        sys.exit(__doc__)
