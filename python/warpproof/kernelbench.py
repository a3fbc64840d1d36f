"""KernelBench problems: traces `Model`, records `ModelNew`, compares them.

`python -m warpproof.kernelbench PROBLEM.py SOLUTION.py [--reduced]` works in a child process, because a solution is
somebody's code: put a sandbox around it if you do not trust it. Shapes are reduced by replacing every integer of the
problem that is at least 16 by 16, or by 17 if it is odd; if the problem then contradicts itself, by 32 and 64. The solution
gets the inputs of the problem and stays as it is. The answer holds for the shapes that it names, and for all contents of
inputs and parameters.

Parameters of `Model` and `ModelNew` are the same if their paths are; otherwise they are matched in order, if their shapes
agree. Solutions with CUDA extensions (`load_inline`) cannot be recorded and are refused.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from .trace.errors import Untraceable

LIMITS: tuple[Optional[int], ...] = (16, 32, 64)
_CHILD = "WARPPROOF_KERNELBENCH_CHILD"


class _Smaller(ast.NodeTransformer):
    def __init__(self, limit: int):
        self.limit = limit

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = node.value
        if isinstance(number, int) and not isinstance(number, bool) and number >= self.limit:
            return ast.copy_location(ast.Constant(self.limit + number % 2), node)
        return node


def reduced(source: str, limit: Optional[int]) -> ast.Module:
    """Returns the code with every integer from `limit` on replaced by `limit`, or by the next odd number."""
    tree = ast.parse(source)
    return ast.fix_missing_locations(_Smaller(limit).visit(tree)) if limit is not None else tree


def load(source: str, path: str, limit: Optional[int]) -> dict[str, Any]:
    """Runs a problem and returns its names; lines of errors are those of the file."""
    names: dict[str, Any] = {"__name__": "kernelbench_problem", "__file__": path}
    exec(compile(reduced(source, limit), path, "exec"), names)
    return names


def attempts(
    source: str, path: str, limits: tuple[Optional[int], ...] = LIMITS
) -> Iterator[tuple[Optional[int], dict[str, Any], Any, list[Any]]]:
    """Yields `(limit, names, model, inputs)` for the limits at which the problem builds and runs."""
    import torch

    for limit in limits:
        try:
            torch.manual_seed(0)
            names = load(source, path, limit)
            model = names["Model"](*names["get_init_inputs"]())
            inputs = list(names["get_inputs"]())
            if limit is not None:
                with torch.no_grad():
                    model(*inputs)
        except Exception:  # shapes that contradict each other; the next limit may do
            continue
        yield limit, names, model, inputs


def import_solution(path: str) -> dict[str, Any]:
    """Imports a solution as a module: Triton reads kernels from their file."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("kernelbench_solution", path)
    if spec is None or spec.loader is None:
        raise Untraceable(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return vars(module)


@contextlib.contextmanager
def _no_extensions() -> Iterator[None]:
    """Refuses CUDA extensions, which would be compiled and launched out of sight."""
    from unittest import mock

    from torch.utils import cpp_extension

    def refuse(*_: Any, **__: Any) -> Any:
        raise Untraceable(
            "a CUDA extension: its launches are in C++", "give the kernel and its launch to warpproof.verify"
        )

    with mock.patch.object(cpp_extension, "load_inline", refuse), mock.patch.object(cpp_extension, "load", refuse):
        yield


def weight_names(traced: Any, model: Any, other: Any) -> dict[str, str]:
    """Returns the names that the formula has for the parameters and buffers of another module, by their paths there."""
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    new = {**dict(other.named_parameters()), **dict(other.named_buffers())}
    known = {path: name for name, path in traced.weights.items()}
    if all(path in own and own[path].shape == tensor.shape for path, tensor in new.items()):
        return {path: known.get(path, "") or _free(path, traced) for path in new}
    if [t.shape for t in own.values()] == [t.shape for t in new.values()]:
        return {theirs: known.get(ours) or _free(theirs, traced) for ours, theirs in zip(own, new)}
    raise Untraceable("Model and ModelNew have different parameters: it is not known which are the same")


def _free(path: str, traced: Any) -> str:
    taken = {name for name, _, _ in traced.inputs}
    name = "unused_" + "".join(c if c.isalnum() else "_" for c in path)
    while name in taken:
        name += "_"
    return name


def compare(
    problem: Path, solution: Path, folder: Path, limits: Sequence[Optional[int]], target: str, timeout: float = 300.0
) -> Path:
    """Traces the problem, records the solution and writes the project that compares them."""
    import torch

    from .record import record
    from .trace.torch import argument_names, trace

    for limit, names, model, inputs in attempts(problem.read_text(), str(problem), tuple(limits)):
        break
    else:
        raise Untraceable(f"{problem.name} does not run with reduced shapes")
    called = argument_names(model, inputs)
    traced = trace(model, *inputs, names=called)
    with _no_extensions():
        found = import_solution(str(solution))
        torch.manual_seed(0)
        other = found["ModelNew"](*names["get_init_inputs"]())
        recording = record(
            other,
            *inputs,
            names=called,
            outputs=[n for n, _, _ in traced.outputs],
            target=target,
            weights=weight_names(traced, model, other),
        )
    shapes = ", ".join(f"{name} {list(shape)}" for name, _, shape in traced.inputs if name not in traced.weights)
    print(f"{problem.name} against {solution.name}, integers up to {limit or 'any size'}: {shapes}")
    for variant in recording.variants[:1]:
        kernels = [launch.kernel for launch in variant.launches]
        print(
            f"launches: {', '.join(kernels) or 'none'}; operations of torch: {', '.join(variant.operations) or 'none'}"
        )
        if not kernels:
            print("note: the solution launches no kernel of its own")
    for note in traced.notes:
        print(f"note: {note}")
    if len(recording.variants) > 1:
        print(f"{len(recording.variants)} autotune configurations")
    return recording.write(folder, traced, timeout)


def _arguments(words: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m warpproof.kernelbench", description="Verifies a KernelBench solution."
    )
    parser.add_argument("problem", type=Path, help="the file with Model, get_inputs and get_init_inputs")
    parser.add_argument("solution", type=Path, help="the file with ModelNew, in Triton")
    parser.add_argument("--reduced", action="store_true", help="replace integers from 16 on by 16 or 17")
    parser.add_argument("--target", default="sm_80", help="the architecture to compile for")
    parser.add_argument("--folder", type=Path, help="keep the project here")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for the comparison")
    return parser.parse_args(words)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command in a child process; returns the exit status of the comparison."""
    given = _arguments(words)
    if os.environ.get(_CHILD) == "1":
        return _child(given)
    passed = list(words) if words is not None else sys.argv[1:]
    return subprocess.run(
        [sys.executable, "-m", "warpproof.kernelbench", *passed], env={**os.environ, _CHILD: "1"}
    ).returncode


def _child(given: argparse.Namespace) -> int:
    limits: Sequence[Optional[int]] = LIMITS if given.reduced else (None,)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        try:
            project = compare(given.problem, given.solution, folder, limits, given.target, given.timeout)
        except Untraceable as error:
            print(f"unknown: {error}")
            return 3
        except Exception as error:  # of the problem, the solution, torch or Triton
            print(f"unknown: {type(error).__name__}: {error}")
            return 3
        sys.stdout.flush()
        command = [sys.executable, "-m", "warpproof", "run", str(project)]
        return subprocess.run(command, env={k: v for k, v in os.environ.items() if k != _CHILD}).returncode


if __name__ == "__main__":
    sys.exit(main())
