"""Fixtures shared by the tests of the package: example kernels, and the program to compare with."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Callable

import pytest

from shared import EXAMPLES, ROOT

pytest_plugins = ["pytester"]


@pytest.fixture
def example() -> Callable[[str], str]:
    """Reads a kernel of `examples/online_softmax`."""
    return lambda name: (EXAMPLES / name).read_text()


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the program named by `WARPPROOF_BINARY`, or the one inside the package."""
    named = os.environ.get("WARPPROOF_BINARY")
    start = [named] if named else [sys.executable, "-m", "warpproof"]

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*start, *words], capture_output=True, cwd=ROOT, check=False)

    return run
