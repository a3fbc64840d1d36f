"""Runs `python -m warpproof.kernelbench` on problems and our solutions, as files in KernelBench's form; by hand.

`python command.py KERNELBENCH_FOLDER level3 1 2 3 4 17 [--option=--reduced]…`. Needs torch and Triton, no GPU. Each
solution has a twin with one mistake. Prints the exit status and the last line of both.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: A solution file: the problem's own module with another `forward`, so that its parameters have the same names.
SOLUTION = """
import sys

sys.path.insert(0, {here!r})
import solutions


class ModelNew(Model):
    def forward(self, *inputs):
        return solutions.{level}[{number}](self, {broken}, *inputs)
"""


def answer(problem: Path, level: str, number: int, broken: bool, options: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        solution = Path(folder, "solution.py")
        own = SOLUTION.format(here=str(HERE), level=level.upper(), number=number, broken=broken)
        solution.write_text(problem.read_text() + own)
        start = time.monotonic()
        command = [sys.executable, "-m", "warpproof.kernelbench", str(problem), str(solution), *options]
        ended = subprocess.run(command, capture_output=True, text=True)
        lines = (ended.stdout + ended.stderr).splitlines() or [""]
        verdicts = [line for line in lines if "proved" in line or "refuted" in line or "unknown" in line] or lines[-1:]
        return f"exit {ended.returncode}, {time.monotonic() - start:.1f} s: {' | '.join(verdicts)[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("level", choices=("level1", "level2", "level3"))
    parser.add_argument("numbers", type=int, nargs="+")
    parser.add_argument("--option", action="append", default=[], help="an option of the command")
    given = parser.parse_args()
    for number in given.numbers:
        (problem,) = (given.folder / given.level).glob(f"{number}_*.py")
        for broken in (False, True):
            name = f"{given.level}/{problem.stem}" + (" (twin)" if broken else "")
            print(f"{name}: {answer(problem, given.level, number, broken, given.option)}", flush=True)


if __name__ == "__main__":
    main()
