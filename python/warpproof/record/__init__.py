"""Recordings: what a host function does, without a GPU.

`record(function, *arguments)` runs a function that launches Triton kernels on fake tensors and returns its launches and
the formulas of the torch operations between them, once for every autotune configuration. `Recording.write(folder)` makes a
project of it for `warpproof run`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

from ..trace.errors import Untraceable
from .project import Formula, Launch, Recording, Variant

__all__ = ["Formula", "Launch", "Recording", "Untraceable", "Variant", "record"]


def record(
    function: Callable[..., Any],
    *arguments: Any,
    names: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    target: str = "sm_80",
    variants: Optional[int] = None,
    weights: Optional[Mapping[str, str]] = None,
    mode: Any = None,
) -> Recording:
    """Records a host function of torch tensors, or a module.

    `arguments` are tensors or specs with `.shape` and `.dtype`; other values are passed on. `target` is the architecture to
    compile for, `variants` how many autotune configurations to record at most (all of them if not given). `weights` names parameters by their paths in
    the module; `mode` is the `FakeTensorMode` of fake tensors among the arguments.
    """
    from .finish import finished
    from .recorder import run

    options = {"weights": weights, "mode": mode}
    capability = int(target.split("_")[-1].rstrip("af"))
    first = run(function, arguments, names, 0, capability, **options)
    count = max(first.recorder.configurations.values(), default=1)
    more = range(1, min(count, variants or count))
    runs = [first] + [run(function, arguments, names, n, capability, **options) for n in more]
    return Recording([finished(one, outputs) for one in runs])
