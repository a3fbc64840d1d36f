"""Functions that launch kernels: recorded on fake tensors, and compared with a function of torch."""

from __future__ import annotations

import inspect
import tempfile
from typing import Any, Callable, Mapping

from warpproof.arguments import Tensor
from warpproof.errors import UsageError
from warpproof.kernels import Kernel, Launch
from warpproof.report import Report, as_argument


def is_host_function(kernel: Any) -> bool:
    """Tells whether something is a function of Python that launches kernels, and no kernel itself."""
    if isinstance(kernel, (Kernel, Launch)) or hasattr(kernel, "arg_names") or hasattr(kernel, "get_kernel_source"):
        return False
    return inspect.isfunction(kernel) or inspect.ismethod(kernel) or hasattr(kernel, "forward")


def verify(
    reference: Callable[..., Any],
    host: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    target: str = "sm_80",
    jobs: int | None = None,
) -> Report:
    """Records a host function and compares it with a reference, once for every configuration of an autotuned kernel."""
    from warpproof.api import equiv, run
    from warpproof.record import record
    from warpproof.trace.torch import trace

    given = {name: as_argument(name, value) for name, value in arguments.items()}
    names = [name for name, value in given.items() if isinstance(value, Tensor)]
    if not names:
        raise UsageError("a function is recorded on tensors: give them by name, `x=wp.f32(4, 256)`")
    values = [given[name] for name in names]
    traced = trace(reference, *values, names=names)
    outputs = [name for name, _, _ in traced.outputs]
    recording = record(host, *values, names=names, outputs=outputs, target=target)
    only = _only_launch(recording)
    if only is not None:
        place, passed, alias = only
        report = equiv(traced.formula, place, passed, alias=alias, jobs=jobs)
        return report.with_formula(traced.formula)
    with tempfile.TemporaryDirectory(prefix="warpproof-") as folder:
        report = run(recording.write(folder, traced), jobs=jobs)
    return report.with_formula(traced.formula)


def _only_launch(recording: Any) -> tuple[Launch, dict[str, str], list[str]] | None:
    """Returns the launch that is all a recording has, and what it is launched with."""
    if len(recording.variants) != 1 or len(recording.steps) != 1 or not hasattr(recording.steps[0], "ptx"):
        return None
    (step,) = recording.steps
    kernel = Kernel(f"{step.kernel}.ptx", step.ptx, step.kernel)
    place = kernel.launch(grid=step.grid, block=step.block, shared=step.shared or None, cluster=step.cluster or None)
    return place, {text.partition("=")[0]: text for _, text in step.arguments}, list(step.alias)
