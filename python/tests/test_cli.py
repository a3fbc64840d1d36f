"""The program inside the package."""

from __future__ import annotations

import subprocess
import sys

import warpproof as wp

from shared import EXAMPLES


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "warpproof", *words], capture_output=True, text=True, check=False)


FLAGS = ("--grid", "4", "--block", "64", "--arg", "x=f32[4,256]", "--arg", "y=f32[4,256]:out", "--arg", "columns=256")


def test_answers_are_exit_statuses():
    assert run("--version").returncode == 0
    assert run("--version").stdout.strip() == f"warpproof {wp.version()}"
    assert run("check", str(EXAMPLES / "online.ptx"), *FLAGS).returncode == 0
    assert run("check", str(EXAMPLES / "racy.ptx"), *FLAGS).returncode == 1
    wrong = run("check", str(EXAMPLES / "racy.ptx"), "--grid", "4x4")
    assert wrong.returncode == 2 and "error: invalid value '4x4'" in wrong.stderr
    assert run("check", str(EXAMPLES / "online.ptx"), *FLAGS, "--max-instructions", "9").returncode == 3


def test_the_demonstration_needs_no_files(tmp_path):
    shown = subprocess.run([sys.executable, "-m", "warpproof", "demo"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "equivalence: refuted" in shown.stdout
