"""Host functions, which launch kernels: recorded on fake tensors, and compared with a function of torch."""

from __future__ import annotations

import inspect
import re
import tempfile
from typing import Any, Callable, Mapping, NamedTuple

from warpproof import _shapes
from warpproof._combined import CombinedReport
from warpproof.arguments import Scalar, Tensor
from warpproof.errors import UsageError
from warpproof.kernels import Kernel, Launch
from warpproof.report import Report, as_argument

#: Options of a comparison of functions. Every other keyword is an argument of the functions.
OPTIONS = ("target", "jobs", "timeout", "max_instructions", "shapes")


def is_host_function(kernel: Any) -> bool:
    """Returns `True` for a Python function or module that launches kernels and is not a kernel itself."""
    if isinstance(kernel, (Kernel, Launch)) or hasattr(kernel, "arg_names") or hasattr(kernel, "get_kernel_source"):
        return False
    return inspect.isfunction(kernel) or inspect.ismethod(kernel) or hasattr(kernel, "forward")


class _Pair(NamedTuple):
    """The formula of a reference, and the recording of the host function."""

    traced: Any
    recording: Any


class _Limits(NamedTuple):
    jobs: int | None
    timeout: float | None
    max_instructions: int | str | None


def verify(
    reference: Callable[..., Any],
    host: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    shapes: Any = None,
    target: str = "sm_80",
    jobs: int | None = None,
    timeout: float | None = None,
    max_instructions: int | str | None = None,
) -> Report:
    """Records a host function and compares it with a reference, once for each configuration of an autotuned kernel.

    With `shapes` the comparison is at those shapes, and every launch is checked at the shapes of the arguments.
    """
    given = {name: as_argument(name, value) for name, value in arguments.items()}
    _require_arguments(given)
    limits = _Limits(jobs, timeout, max_instructions)

    def prepare(values: Mapping[str, Any]) -> _Pair:
        return _recorded(reference, host, values, target)

    if shapes is None:
        return _compared(prepare(given), limits)
    pairs = _shapes.chosen(shapes, given, prepare)
    parts = {f"equal at {_shapes.described(small)}": _compared(pair, limits) for small, pair in pairs}
    if all(small != given for small, _ in pairs):
        parts.update(_checked(_recording(host, given, target), limits, _shapes.described(given)))
    return CombinedReport(parts, pairs[0][1].traced.formula)


def _require_arguments(given: Mapping[str, Any]) -> None:
    if not any(isinstance(value, Tensor) for value in given.values()):
        raise UsageError("a function is recorded on tensors: give them by name, `x=wp.f32(4, 256)`")
    for name, value in given.items():
        if isinstance(value, Scalar):
            raise UsageError(f"`{name}` is a number that the functions are run with: give its value")
        if isinstance(value, Tensor) and value.direction != "in":
            raise UsageError(f"`{name}` is an output: a function returns its outputs; give only its inputs")


def _recorded(reference: Callable[..., Any], host: Callable[..., Any], given: Mapping[str, Any], target: str) -> _Pair:
    if isinstance(reference, str):
        return _against_formula(reference, host, given, target)
    if not callable(reference) or isinstance(reference, (Kernel, Launch)):
        raise UsageError("a function that launches kernels is compared with a formula or with another function")
    from warpproof._functions import tracer

    traced = tracer(reference)(reference, *given.values(), names=list(given))
    weights = None
    if hasattr(host, "named_parameters") and hasattr(reference, "named_parameters"):
        from warpproof.kernelbench import weight_names

        weights = weight_names(traced, reference, host)
    names = traced.input_names(list(given), list(given.values()))
    recording = _recording(host, given, target, [name for name, _, _ in traced.outputs], weights, names)
    exact = tracer(reference).__module__.endswith(".torch")
    recording.require_results(traced, exact)
    return _Pair(traced, recording)


def _against_formula(formula: str, host: Callable[..., Any], given: Mapping[str, Any], target: str) -> _Pair:
    from warpproof.trace.formula import RESERVED
    from warpproof.trace.traced import Traced

    for name in given:
        if name in RESERVED:
            raise UsageError(f"`{name}` is a reserved word in formulas: give the argument another name")
    lines = [line for line in re.split(r"[;\n]", formula) if not re.match(r"\s*(let\b|#|$)", line)]
    outputs = [match.group(1) for line in lines if (match := re.match(r"\s*([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?=(?!=)", line))]
    recording = _recording(host, given, target, outputs or None)
    inputs = [(name, value.dtype, value.shape) for name, value in given.items() if isinstance(value, Tensor)]
    return _Pair(Traced(formula, inputs, recording.outputs, {}), recording)


def _recording(
    host: Callable[..., Any],
    given: Mapping[str, Any],
    target: str,
    outputs: list[str] | None = None,
    weights: Mapping[str, str] | None = None,
    names: list[str] | None = None,
) -> Any:
    from warpproof.record import record

    return record(host, *given.values(), names=names or list(given), outputs=outputs, target=target, weights=weights, parts=True)


def _compared(pair: _Pair, limits: _Limits) -> Report:
    from warpproof.api import equiv, run

    only = _only_launch(pair)
    if only is not None:
        place, passed, alias = only
        report = equiv(pair.traced.formula, place, passed, alias=alias, **limits._asdict())
    else:
        with tempfile.TemporaryDirectory(prefix="warpproof-") as folder:
            written = pair.recording.write(folder, pair.traced, limits.timeout, limits.max_instructions)
            report = run(written, jobs=limits.jobs)
        _require_whole_results(report, [name for name, _, _ in pair.recording.outputs])
    _require_no_state(report)
    return report.with_assumptions(pair.recording.assumptions).with_formula(pair.traced.formula)


def _require_no_state(report: Report) -> None:
    """Refuses a proof that is not about the next call: its kernels leave something behind, or state conditions."""
    from warpproof.trace import Untraceable

    if report.proved and report.from_kernel:
        raise Untraceable(report.from_kernel[0])


def _require_whole_results(report: Report, results: list[str]) -> None:
    """Refuses a refutation that only says that memory between the steps is not written whole: a part may do."""
    from warpproof.trace import Untraceable

    errors = [one for one in report.findings if one.severity == "error"]
    between = [one for one in errors if one.kind == "unwritten-output" and not any(f"`{n}`" in one.message for n in results)]
    if report.refuted and errors and errors == between:
        raise Untraceable(f"memory that is partly read is not completely written: {between[0].message}")


def _only_launch(pair: _Pair) -> tuple[Launch, dict[str, str], list[str]] | None:
    """Returns the launch of a recording that consists of one launch alone, with its arguments, if those are all that
    the formula names.
    """
    recording, traced = pair.recording, pair.traced
    if len(recording.variants) != 1 or len(recording.steps) != 1 or not hasattr(recording.steps[0], "ptx"):
        return None
    placed = _placed(recording.steps[0])
    used = [name for name, _, _ in traced.inputs if re.search(rf"\b{re.escape(name)}\b", traced.formula)]
    return placed if all(name in placed[1] for name in used) else None


def _placed(step: Any) -> tuple[Launch, dict[str, str], list[str]]:
    kernel = Kernel(f"{step.kernel}{step.ending}", step.ptx, step.kernel)
    place = kernel.launch(grid=step.grid, block=step.block, shared=step.shared or None, cluster=step.cluster or None)
    return place, {text.partition("=")[0]: text for _, text in step.arguments}, list(step.alias)


def _checked(recording: Any, limits: _Limits, shapes: str) -> dict[str, Report]:
    """Checks every launch of a recording, for all configurations."""
    from warpproof.api import check

    parts = {}
    for number, variant in enumerate(recording.variants):
        for position, step in enumerate(variant.launches):
            name = f"check of {step.kernel} at {shapes}"
            name += f", launch {position}" if len(variant.launches) > 1 else ""
            name += f", configuration {number}" if len(recording.variants) > 1 else ""
            place, passed, alias = _placed(step)
            parts[name] = check(place, passed, alias=alias, **limits._asdict()).with_assumptions(recording.assumptions)
            _require_no_state(parts[name])
    return parts
