"""KernelBench problems: traces `Model`, records `ModelNew`, compares them.

`python -m warpproof.kernelbench PROBLEM.py SOLUTION.py [--reduced]` works in a child process, because a solution is
foreign code: run it in a sandbox if you do not trust its author. The child only writes the project; a solution that
ends it, or never comes to an end, is `unknown`. Shapes are reduced by replacing every integer of the problem's inputs
that is at least 16 by 16, or by 17 if it is odd. If the problem then contradicts itself, 32 and 64 are tried. The
solution gets the inputs of the problem and stays as it is, and so do integers in `Model`: the solution has its own
copy of them. The answer holds for the shapes it names, and for all
contents of inputs and parameters. With `--reduced` the launches at the problem's own shapes are also checked for
races and memory errors.

Parameters of `Model` and `ModelNew` are matched by their paths, otherwise in order if their shapes agree. Launches
are those of Triton and of CUDA extensions (`load_inline`), whose host functions are interpreted.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import subprocess
import symtable
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from .trace.errors import Untraceable

LIMITS: tuple[Optional[int], ...] = (16, 32, 64)
_CHILD = "WARPPROOF_KERNELBENCH_CHILD"
#: The comparison and the checks at full shapes, in the project's folder.
_PROJECTS = ("warpproof.toml", "full/warpproof.toml")
_END = "recorded"
#: Exit statuses of `warpproof run`, the worst first.
_STATUSES = (4, 1, 2, 3, 0)
#: Seconds for starting Python, torch and Triton, besides those that the user allows.
_START = 60.0


class _Smaller(ast.NodeTransformer):
    def __init__(self, limit: int):
        self.limit = limit

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = node.value
        if isinstance(number, int) and not isinstance(number, bool) and number >= self.limit:
            return ast.copy_location(ast.Constant(self.limit + number % 2), node)
        return node


def _of_the_model(source: str, tree: ast.Module) -> list[ast.stmt]:
    """Returns the statements of a problem that belong to the model: classes, and what they read, directly or not."""
    scopes = symtable.symtable(source, "problem", "exec")
    by_line = {scope.get_lineno(): scope for scope in scopes.get_children()}

    def read(statement: ast.stmt) -> set[str]:
        """Returns the names of the module that a statement reads, also inside of its functions."""
        if not isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        lines = [statement.lineno, *(one.lineno for one in statement.decorator_list)]
        open_scopes = [by_line[line] for line in lines if line in by_line]
        found: set[str] = set()
        while open_scopes:
            scope = open_scopes.pop()
            found |= {one.get_name() for one in scope.get_symbols() if one.is_global()}
            open_scopes += scope.get_children()
        return found

    def bound(statement: ast.stmt) -> set[str]:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            return {statement.name}
        return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}

    found: list[ast.stmt] = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    while True:
        names = set().union(*map(read, found))
        new = [one for one in tree.body if one not in found and bound(one) & names]
        if not new:
            return found
        found += new


def reduced(source: str, limit: Optional[int], model: bool = True) -> ast.Module:
    """Returns the code with every integer from `limit` up replaced by `limit`, or by the next odd number.

    Without `model`, only those of the inputs are replaced."""
    tree = ast.parse(source)
    if limit is None:
        return tree
    kept = [] if model else _of_the_model(source, tree)
    tree.body = [one if one in kept else _Smaller(limit).visit(one) for one in tree.body]
    return ast.fix_missing_locations(tree)


def _without_gpu() -> Any:
    """Returns a context in which tensors meant for a GPU stay on the processor.

    Problems may say `.cuda()` or `device="cuda"`. A proof needs no contents from there, and this machine may have no
    GPU.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    def here(value: Any) -> Any:
        on_gpu = isinstance(value, torch.device) and value.type == "cuda" or isinstance(value, str) and value.split(":")[0] == "cuda"
        return torch.device("cpu") if on_gpu else value

    class OnProcessor(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            return func(*map(here, args), **{name: here(value) for name, value in (kwargs or {}).items()})

    return OnProcessor()


@contextlib.contextmanager
def _without_leftovers() -> Iterator[None]:
    """Fills memory that nothing has written with NaN, so that two modules with such parameters are the same."""
    import torch

    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def load(source: str, path: str, limit: Optional[int], model: bool = True) -> dict[str, Any]:
    """Runs a problem and returns its names. Errors have the line numbers of the file."""
    names: dict[str, Any] = {"__name__": "kernelbench_problem", "__file__": path}
    exec(compile(reduced(source, limit, model), path, "exec"), names)
    return names


def attempts(
    source: str, path: str, limits: tuple[Optional[int], ...] = LIMITS, model: bool = True
) -> Iterator[tuple[Optional[int], dict[str, Any], Any, list[Any]]]:
    """Yields `(limit, names, model, inputs)` for the limits at which the problem builds and runs.

    Without `model`, only integers of the inputs are limited. Raises `Untraceable` with the reason if there is none."""
    import torch

    reason: Optional[Exception] = None
    found = False
    for limit in limits:
        try:
            torch.manual_seed(0)
            with _without_gpu():
                names = load(source, path, limit, model)
                built = names["Model"](*names["get_init_inputs"]())
                inputs = list(names["get_inputs"]())
                if limit is not None:
                    with torch.no_grad():
                        built(*inputs)
        except Exception as error:  # contradictory shapes; the next limit may do
            reason = error
            continue
        found = True
        yield limit, names, built, inputs
    if not found:
        shapes = "at reduced shapes" if None not in limits else "here"
        why = "" if reason is None else f": {type(reason).__name__}: {reason}"
        raise Untraceable(f"{Path(path).name} does not run {shapes}{why}")


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


def weight_names(traced: Any, model: Any, other: Any) -> dict[str, str]:
    """Returns the formula's names for the parameters and buffers of another module, by their paths there."""
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    new = {**dict(other.named_parameters()), **dict(other.named_buffers())}
    known = {path: name for name, path in traced.weights.items()}
    if all(path in own and own[path].shape == tensor.shape for path, tensor in new.items()):
        return {path: known.get(path, "") or _free(path, traced) for path in new}
    if [t.shape for t in own.values()] == [t.shape for t in new.values()]:
        return {theirs: known.get(ours) or _free(theirs, traced) for ours, theirs in zip(own, new)}
    raise Untraceable("Model and ModelNew have different parameters: it is not known which ones correspond")


def _require_same_weights(model: Any, other: Any) -> None:
    """Refuses a solution that begins with other parameters or buffers: the proof is about equal ones."""
    import torch

    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    new = {**dict(other.named_parameters()), **dict(other.named_buffers())}
    if not all(path in own and own[path].shape == tensor.shape for path, tensor in new.items()):
        own = dict(zip(new, own.values()))
    for path, tensor in new.items():
        if not torch.equal(own[path].detach().nan_to_num(), tensor.detach().nan_to_num()):
            raise Untraceable(f"`{path}` of ModelNew starts with different values than in Model, for the same seed")


def _free(path: str, traced: Any) -> str:
    taken = {name for name, _, _ in traced.inputs}
    name = "unused_" + "".join(c if c.isalnum() else "_" for c in path)
    while name in taken:
        name += "_"
    return name


def compare(
    problem: Path, solution: Path, folder: Path, limits: Sequence[Optional[int]], target: str, timeout: float = 300.0
) -> tuple[Path, dict[str, Any]]:
    """Traces the problem, records the solution and writes a project that compares them. Returns the solution's names,
    too.
    """
    import torch

    from .record import extensions, record
    from .trace.torch import argument_names, trace

    limit, names, model, inputs = next(attempts(problem.read_text(), str(problem), tuple(limits), model=False))
    called = argument_names(model, inputs)
    traced = trace(model, *inputs, names=called)
    with extensions.replaced():
        found = import_solution(str(solution))
        with _without_gpu(), _without_leftovers():
            torch.manual_seed(0)
            model = names["Model"](*names["get_init_inputs"]())
            torch.manual_seed(0)
            other = found["ModelNew"](*names["get_init_inputs"]())
        _require_same_weights(model, other)
        recording = record(
            other,
            *inputs,
            names=traced.input_names(called, torch.utils._pytree.tree_leaves(inputs)),
            outputs=[n for n, _, _ in traced.outputs],
            target=target,
            weights=weight_names(traced, model, other),
            parts=True,
        )
    recording.require_results(traced, exact=True)
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
    for text in recording.assumptions:
        print(f"assumption: {text}")
    if len(recording.variants) > 1:
        print(f"{len(recording.variants)} autotune configurations")
    return recording.write(folder, traced, timeout), found


def checks(problem: Path, solution: dict[str, Any], folder: Path, target: str, timeout: float) -> Optional[Path]:
    """Records a solution at the problem's own shapes, and writes a project that checks its launches, if there are
    any.
    """
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    from .record import extensions, record

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode, extensions.replaced():
        names = load(problem.read_text(), str(problem), None)
        inputs = list(names["get_inputs"]())
        other = solution["ModelNew"](*names["get_init_inputs"]())
    recording = record(other, *inputs, target=target, mode=mode)
    shapes = ", ".join(str(list(one.shape)) for one in inputs if isinstance(one, FakeTensor))
    launches = [launch for variant in recording.variants for launch in variant.launches]
    print(f"checks of {len(launches)} launches at the problem's own shapes: {shapes}")
    return recording.write(folder, timeout=timeout) if launches else None


def _arguments(words: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m warpproof.kernelbench", description="Verifies a KernelBench solution."
    )
    parser.add_argument("problem", type=Path, help="the file with Model, get_inputs and get_init_inputs")
    parser.add_argument("solution", type=Path, help="the file with ModelNew, in Triton or CUDA")
    parser.add_argument("--reduced", action="store_true", help="compare with integers from 16 on replaced by 16 or 17, check at full shapes")
    parser.add_argument("--no-check", action="store_true", help="with --reduced: do not check launches at full shapes")
    parser.add_argument("--target", default="sm_80", help="the architecture to compile for")
    parser.add_argument("--folder", type=Path, help="keep the project here")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for the recording, for the comparison, and for each check")
    return parser.parse_args(words)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command in a child process; returns the exit status of the comparison."""
    given = _arguments(words)
    if os.environ.get(_CHILD) == "1":
        return _child(given)
    passed = list(words) if words is not None else sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        ends_well = _recorded([*passed, "--folder", str(folder)], folder, given.timeout)
        answers = [_answer(folder / name) for name in _PROJECTS if (folder / name).exists()]
    if not ends_well or not answers:
        print("unknown: the recording did not come to its end", flush=True)
        answers.append(3)
    return next(code for code in _STATUSES if code in answers)


def _recorded(words: Sequence[str], folder: Path, seconds: float) -> bool:
    """Writes the projects in a child process, which the solution may end or keep for ever. Returns `False` then."""
    for name in _PROJECTS:
        (folder / name).unlink(missing_ok=True)
    end = folder / _END
    end.unlink(missing_ok=True)
    command = [sys.executable, "-m", "warpproof.kernelbench", *words]
    try:
        subprocess.run(command, env={**os.environ, _CHILD: "1"}, timeout=_START + seconds)
    except subprocess.TimeoutExpired:
        print(f"unknown: the recording takes more than {_START + seconds:g} seconds", flush=True)
    came = end.exists()
    end.unlink(missing_ok=True)
    return came


def _child(given: argparse.Namespace) -> int:
    """Writes the projects. The parent runs them: an exit status of this process may be the solution's."""
    limits: Sequence[Optional[int]] = LIMITS if given.reduced else (None,)
    try:
        _, solution = compare(given.problem, given.solution, given.folder, limits, given.target, given.timeout)
        if given.reduced and not given.no_check:
            checks(given.problem, solution, given.folder / "full", given.target, given.timeout)
    except Untraceable as error:
        print(f"unknown: {error}", flush=True)
        return 3
    except Exception as error:  # of the problem, the solution, torch or Triton
        print(f"unknown: {type(error).__name__}: {error}", flush=True)
        return 3
    sys.stdout.flush()
    (given.folder / _END).write_text("")
    return 0


def _answer(project: Path) -> int:
    """Runs a project; returns the exit status, or that of `unknown` if a signal ended the run."""
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        status = subprocess.run([sys.executable, "-m", "warpproof", "run", str(project), "--also", f"json={report}"]).returncode
        if status not in _STATUSES:
            print(f"unknown: the comparison ended with status {status}", flush=True)
            return 3
        reason = _own_condition(report.read_bytes()) if status == 0 else None
    if reason is None:
        return status
    print(f"unknown: {reason}", flush=True)
    return 3


def _own_condition(report: bytes) -> Optional[str]:
    """Returns what the text of a kernel makes a proof depend on: a condition of its own, or what an earlier launch left."""

    def found(part: Any) -> Iterator[str]:
        for name, inside in part.items() if isinstance(part, dict) else ((None, one) for one in part if isinstance(part, list)):
            if name == "from_kernel":
                yield from inside
            elif isinstance(inside, (dict, list)):
                yield from found(inside)

    return next(found(json.loads(report)), None)


if __name__ == "__main__":
    sys.exit(main())
