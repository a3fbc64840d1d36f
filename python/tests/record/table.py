"""Verifies solutions of our own against KernelBench problems and writes a table; run by hand.

`python table.py KERNELBENCH_FOLDER --program warpproof [--out table.json] [NUMBER…]`. Needs torch and Triton, no GPU. Every
solution has a twin with one mistake, which must not be proved.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "trace")]
import conftest  # noqa: E402, F401
import solutions  # noqa: E402
import torch  # noqa: E402

from warpproof import kernelbench  # noqa: E402
from warpproof.record import record  # noqa: E402
from warpproof.trace.torch import argument_names, trace  # noqa: E402

ANSWERS = {0: "proved", 1: "refuted", 2: "error", 3: "unknown", 4: "bug"}


class Solution(torch.nn.Module):
    """A solution that uses the parameters of the problem's model."""

    def __init__(self, model, function, broken):
        super().__init__()
        self.model, self.function, self.broken = model, function, broken

    def forward(self, *inputs):
        return self.function(self.model, self.broken, *inputs)


def command(program, folder, recording, traced, timeout):
    """Returns the comparison as a command: of one launch with a formula, or of a project."""
    steps = recording.steps
    if len(steps) == 1 and hasattr(steps[0], "ptx"):
        step = steps[0]
        (folder / "kernel.ptx").write_text(step.ptx)
        (folder / "reference.wp").write_text(traced.formula)
        words = [program, "equiv", "--ref", f"@{folder}/reference.wp", f"{folder}/kernel.ptx::{step.kernel}"]
        words += ["--grid", ",".join(map(str, step.grid)), "--block", str(step.block), "--smem", str(step.shared)]
        words += [w for _, text in step.arguments for w in ("--arg", text)] + [w for a in step.alias for w in ("--alias", a)]
    else:
        return [program, "run", str(recording.write(folder, traced, timeout))]
    return [*words, "--timeout", str(timeout)]


def verify(path, function, broken, limits, program, timeout):
    limit, _, model, inputs = next(kernelbench.attempts(path.read_text(), str(path), limits))
    names = argument_names(model, inputs)
    traced = trace(model, *inputs, names=names)
    weights = {"model." + where: name for name, where in traced.weights.items()}
    recording = record(Solution(model, function, broken), *inputs, names=names, outputs=[n for n, _, _ in traced.outputs], weights=weights)
    with tempfile.TemporaryDirectory() as folder:
        start = time.time()
        done = subprocess.run(command(program, Path(folder), recording, traced, timeout), capture_output=True, text=True)
    shapes = [list(shape) for name, _, shape in traced.inputs if name not in traced.weights]
    found = {"answer": ANSWERS.get(done.returncode, str(done.returncode)), "seconds": round(time.time() - start, 1), "limit": limit, "shapes": shapes}
    if done.returncode != (1 if broken else 0):
        found["words"] = (done.stdout + done.stderr)[:1500]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("numbers", nargs="*")
    parser.add_argument("--program", default="warpproof")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("table.json"))
    given = parser.parse_intermixed_args()
    results = json.loads(given.out.read_text()) if given.out.exists() else {}
    for level, table in (("level1", solutions.LEVEL1), ("level2", solutions.LEVEL2), ("level3", solutions.LEVEL3)):
        for number, function in sorted(table.items()):
            if given.numbers and f"{level}/{number}" not in given.numbers:
                continue
            path = next(p for p in (given.folder / level).iterdir() if re.match(rf"{number}_", p.name))
            limits = (solutions.LIMITS.get((level, number), 16), 16, 32)
            for broken in (False, True):
                key = f"{level}/{path.stem}{' (broken)' if broken else ''}"
                if key in results and not given.numbers:
                    continue
                try:
                    results[key] = verify(path, function, broken, limits, given.program, given.timeout)
                except Exception as error:  # a row of the table; the other problems go on
                    results[key] = {"answer": "not recorded", "words": f"{type(error).__name__}: {error}"[:500]}
                print(key, results[key]["answer"], results[key].get("seconds"), results[key].get("words", "")[:300].replace("\n", " | "), flush=True)
                given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
