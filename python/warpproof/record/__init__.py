"""Recordings: what a host function does, without a GPU.

`record(function, *arguments)` runs a function that launches Triton kernels on fake tensors and returns its launches and
the formulas of the torch operations between them, once for every autotune configuration. `Recording.write(folder)` makes a
project of it for `warpproof run`.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

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
) -> Recording:
    """Records a host function of torch tensors, or a module.

    `arguments` are tensors or specs with `.shape` and `.dtype`; other values are passed on. `target` is the architecture to
    compile for, `variants` how many autotune configurations to record at most (all of them if not given).
    """
    from .finish import finished
    from .recorder import run

    capability = int(target.split("_")[-1].rstrip("af"))
    first = run(function, arguments, names, 0, capability)
    count = max(first.recorder.configurations.values(), default=1)
    runs = [first] + [run(function, arguments, names, n, capability) for n in range(1, min(count, variants or count))]
    return Recording([finished(one, outputs) for one in runs])
