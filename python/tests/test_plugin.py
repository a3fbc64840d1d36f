"""The plugin for pytest: claims as tests, the fixture, the marker, readable failures."""

from __future__ import annotations

import pytest
import warpproof as wp
from warpproof import testing

from test_commands import ARGUMENTS
from test_process import SPIN
from test_report import SMALL

PRELUDE = """
import pytest
import warpproof as wp
from pathlib import Path

EXAMPLES = Path({folder!r})
REFERENCE = wp.ptx(EXAMPLES / "softmax.ptx")[1, 1]
RIGHT, WRONG = wp.ptx(EXAMPLES / "online.ptx")[1, 2], wp.ptx(EXAMPLES / "broken.ptx")[1, 2]
SMALL = dict(x=wp.f32(1, 2), y=wp.out(1, 2), columns=2)
"""


@pytest.fixture
def session(pytester):
    from shared import EXAMPLES

    def run(text, *words):
        pytester.makepyfile(test_it=PRELUDE.format(folder=str(EXAMPLES)) + text)
        installed = ["-p", "warpproof.pytest_plugin"] if not _is_registered(pytester) else []
        return pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", *installed, *words)

    return run


def _is_registered(pytester) -> bool:
    from importlib.metadata import entry_points

    found = entry_points()
    group = found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", [])
    return any(one.name == "warpproof" for one in group)


def test_the_fixture_proves(session):
    result = session(
        """
def test_right(warpproof):
    warpproof(REFERENCE, RIGHT, **SMALL)

def test_wrong(warpproof):
    warpproof(REFERENCE, WRONG, **SMALL)

@pytest.mark.parametrize("columns", [2, 4])
def test_each_launch(warpproof, columns):
    warpproof(REFERENCE, RIGHT, x=wp.f32(1, columns), y=wp.out(1, columns), columns=columns)

@pytest.mark.warpproof(allow_unknown=True, max_instructions=10)
def test_open(warpproof):
    assert warpproof(REFERENCE, RIGHT, **SMALL).unknown
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*refuted: equiv broken*",
            "*WP0140 `y[[]0,0[]]` differs (broken.cu:21)*",
            "*the reference gives 0.798186778, the optimised kernel 0.5*",
            "*with x[[]0,0[]] = 0.875, x[[]0,1[]] = -0.5*",
        ]
    )
    # The failure is shown without the library's traceback.
    assert "api.py" not in result.stdout.str()


def test_options_hold_for_all_tests(session):
    text = """
def test_long(warpproof):
    launch = wp.ptx(SPIN)[1, 32](y=wp.out(32, dtype="s64"), count=2**32)
    warpproof(launch, launch, max_instructions="1000G")
"""
    text = f"SPIN = {SPIN!r}\n{text}"
    session(text, "--warpproof-timeout", "1").assert_outcomes(failed=1)
    session(text, "--warpproof-timeout", "1", "--warpproof-allow-unknown").assert_outcomes(passed=1)


CLAIMS = """
class Jit:
    \"\"\"Stands for what `@triton.jit` makes: a kernel that takes no attributes.\"\"\"
    __slots__ = ("source",)
    def __init__(self, source):
        self.source = source
    def get_kernel_source(self):
        return self.source

import warpproof.kernels
warpproof.kernels.tilelang = lambda one: wp.ptx(one.get_kernel_source())
launch = dict(block=2, **SMALL)
here = wp.proved_against(REFERENCE, grid=1, **launch)
there = wp.proved_against(REFERENCE, grid=lambda given: (given["columns"] // 2,), label="other", **launch)
right = there(here(Jit((EXAMPLES / "online.ptx").read_text())))
wrong = here(Jit((EXAMPLES / "broken.ptx").read_text()))
"""


def test_claims_are_tests(session):
    result = session(CLAIMS)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines_random(["*proved[[]right-0[]] PASSED*", "*proved[[]right-other[]] PASSED*", "*proved[[]wrong[]] FAILED*"])
    result.stdout.fnmatch_lines(["*WP0140 `y[[]0,0[]]` differs (broken.cu:21)*"])


def test_a_claim_can_be_proved_at_once(example, monkeypatch):
    monkeypatch.setenv("WARPPROOF_PROVE", "1")
    reference = wp.ptx(example("softmax.ptx"))[1, 1]
    right, wrong = wp.ptx(example("online.ptx")), wp.ptx(example("broken.ptx"))
    claim = wp.proved_against(reference, grid=1, block=2, **SMALL)
    assert claim(right) is right and len(testing.claims(right)) == 1
    with pytest.raises(wp.Refuted):
        claim(wrong)


def test_a_claim_needs_a_launch(example):
    with pytest.raises(wp.UsageError, match="needs a launch"):
        wp.proved_against("y[i] = x[i]", x=wp.f32(4), y=wp.out(4))(wp.ptx(example("online.ptx")))


def test_assertions_return_reports(example):
    online, racy = wp.ptx(example("online.ptx"))[4, 64], wp.ptx(example("racy.ptx"))[4, 64]
    assert testing.assert_check(online, **ARGUMENTS).proved
    with pytest.raises(AssertionError) as raised:
        testing.assert_check(racy, **ARGUMENTS)
    text = str(raised.value)
    assert text.startswith("refuted: check racy\n  WP0109 race on") and "would order them" in text
    assert len(text.splitlines()) < 20
    with pytest.raises(wp.NotProved):
        testing.assert_check(online, **ARGUMENTS, max_instructions=10)
    assert testing.assert_check(online, allow_unknown=True, **ARGUMENTS, max_instructions=10).unknown
