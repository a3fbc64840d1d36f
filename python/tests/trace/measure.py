"""Traces KernelBench problems, evaluates the formulas and compares with torch in float64; run by hand.

`python measure.py KERNELBENCH_FOLDER --out measure.json [PART_OF_NAME…]`. Shapes are reduced to 16, or else to 32 or
64. A problem that runs with none of these is traced at its own shapes on fake tensors and not evaluated. `--seconds`
bounds the evaluation of one formula in Python, and is unrelated to the program's time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
import torch  # noqa: E402
from evaluate import evaluate  # noqa: E402
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode  # noqa: E402

from warpproof import kernelbench  # noqa: E402
from warpproof.trace.torch import trace  # noqa: E402


def doubled(inputs):
    return [i.double() if isinstance(i, torch.Tensor) and i.is_floating_point() else i for i in inputs]


def values_of(traced, model, inputs):
    """Returns the contents of the formula's inputs, copied because running the model updates buffers."""
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    given = [i for i in torch.utils._pytree.tree_leaves(list(inputs)) if isinstance(i, torch.Tensor)]
    values = {}
    for name, _, _ in traced.inputs:
        if name not in traced.weights:
            values[name] = given.pop(0).numpy().copy()
        elif name in traced.contents:
            values[name] = np.array(traced.contents[name])
        else:
            values[name] = held[traced.weights[name]].detach().numpy().copy()
    return values


def error_of(traced, model, inputs):
    """Returns the largest relative difference between formula and torch."""
    values = values_of(traced, model, inputs)
    got = evaluate(traced.formula, values, {name: shape for name, _, shape in traced.outputs})
    with torch.no_grad():
        want = torch.utils._pytree.tree_leaves(model(*inputs))
    worst = 0.0
    for (name, _, _), expected in zip(traced.outputs, want):
        exact = expected.numpy()
        worst = max(worst, float(np.max(np.abs(got[name] - exact) / (1 + np.abs(exact)), initial=0.0)))
    return worst


def at_its_own_shapes(path):
    """Traces on fake tensors, or on real ones if the code needs numbers."""
    for mode in (FakeTensorMode(allow_non_fake_inputs=True), contextlib.nullcontext()):
        try:
            with mode:
                names = kernelbench.load(path.read_text(), str(path), None)
                model, inputs = names["Model"](*names["get_init_inputs"]()), list(names["get_inputs"]())
                return trace(model, *inputs)
        except DataDependentOutputException as error:
            reason = error
    raise reason


def measured(path, seconds, eval_mode):
    found = {"stage": "build"}
    try:
        signal.alarm(seconds)
        try:
            attempt = next(kernelbench.attempts(path.read_text(), str(path)))
        except kernelbench.Untraceable:
            attempt = None
        found["stage"], start = "trace", time.time()
        if attempt is None:
            traced = at_its_own_shapes(path)
        else:
            found["limit"], _, model, inputs = attempt
            model, inputs = (model.eval() if eval_mode else model).double(), doubled(inputs)
            traced = trace(model, *inputs)
        found.update(trace_s=round(time.time() - start, 1), characters=len(traced.formula), stage="traced")
        if attempt is not None:
            start = time.time()
            found["error"] = error_of(traced, model, inputs)
            found.update(eval_s=round(time.time() - start, 1), stage="equal" if found["error"] < 1e-9 else "different")
    except TimeoutError:
        found["why"] = f"more than {seconds} s"
    except Exception as error:  # a row of the table; the other problems go on
        found["why"] = f"{type(error).__name__}: {error}"[:300]
    signal.alarm(0)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("measure.json"))
    parser.add_argument("--seconds", type=int, default=240)
    parser.add_argument("--eval", action="store_true", help="in eval mode, under a name of its own")
    given = parser.parse_intermixed_args()

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    torch.set_num_threads(1)
    results = json.loads(given.out.read_text()) if given.out.exists() else {}
    for path in sorted(given.folder.glob("level[123]/*.py")):
        key = f"{path.parent.name}/{path.stem}{' (eval mode)' if given.eval else ''}"
        if (given.parts and not any(part in key for part in given.parts)) or (not given.parts and key in results):
            continue
        results[key] = measured(path, given.seconds, given.eval)
        print(key, results[key], flush=True)
        given.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
