"""In-process calls and the command line: the same bytes, on a sample of the corpus."""

from __future__ import annotations

import os
import shlex
from typing import Any

import pytest
import warpproof as wp

from shared import ROOT

#: One file in this many is taken; all of them with WARPPROOF_FULL.
SAMPLE = 1 if os.environ.get("WARPPROOF_FULL") else 30


def keywords(flags: list[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Returns launch flags as arguments of a kernel and as keywords."""
    arguments: dict[str, str] = {}
    options: dict[str, Any] = {}
    words = {"--grid": "grid", "--block": "block", "--cluster": "cluster", "--smem": "shared"}
    for flag, value in zip(flags[::2], flags[1::2]):
        if flag == "--arg":
            name, _, text = value.partition("=")
            arguments[name] = text
        else:
            size = value if flag == "--smem" else tuple(map(int, value.split(",")))
            options[words[flag]] = size
    return arguments, options


CHECKS = sorted((ROOT / "corpus/sync").glob("*.args"))[::SAMPLE]


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.stem)
def test_check(file, program):
    flags = shlex.split(file.read_text())
    arguments, options = keywords(flags)
    path = str(file.with_suffix(".ptx"))
    printed = program("check", path, *flags, "--format", "json")
    report = wp.check(path, arguments, **options)
    assert report.json().encode() == printed.stdout
    assert printed.returncode == {"proved": 0, "refuted": 1, "unknown": 3}[report.verdict]


def pairs() -> list[Any]:
    """Returns the comparisons whose two sides are single launches described by flags."""
    found = []
    for file in sorted((ROOT / "corpus/equiv").glob("*/*.pair"))[:: max(SAMPLE // 2, 1)]:
        lines = [line.partition(": ") for line in file.read_text().splitlines()]
        flags = shlex.split(" ".join(rest for key, _, rest in lines if key == "flags"))
        sides = [rest for key, _, rest in lines if key in ("ref", "opt")]
        plain = ("--ref-grid", "--ref-block", "--opt-grid", "--opt-block", "--grid", "--block", "--arg", "--smem")
        if SAMPLE > 1 and file.stem.endswith("_large"):
            continue
        if len(sides) == 2 and all(flag in plain for flag in flags[::2]) and len(flags) % 2 == 0:
            found.append(pytest.param(file, sides, flags, id=f"{file.parent.name}-{file.stem}"))
    return found


@pytest.mark.parametrize(("file", "sides", "flags"), pairs())
def test_equiv(file, sides, flags, program):
    common = [word for flag, value in zip(flags[::2], flags[1::2]) if not flag.startswith(("--ref-", "--opt-")) for word in (flag, value)]
    arguments, options = keywords(common)

    def launch(side: str, path: str) -> wp.Launch:
        own = [word for flag, value in zip(flags[::2], flags[1::2]) if flag.startswith(f"--{side}-") for word in (f"--{flag[6:]}", value)]
        _, place = keywords(own)
        file_name, _, name = path.partition("::")
        kernel = wp.ptx(file.parent / file_name, name or None)
        return kernel.launch(**{**options, **place})

    paths = [str(file.parent / side) for side in sides]
    printed = program("equiv", *paths, *flags, "--format", "json")
    report = wp.equiv(launch("ref", sides[0]), launch("opt", sides[1]), arguments)
    assert report.json().encode() == printed.stdout


def test_the_sample_is_one():
    assert len(CHECKS) >= 20 and len(pairs()) >= 10
