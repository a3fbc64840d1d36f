"""Recordings of host functions, without a GPU.

`record(function, *arguments)` runs a function that launches Triton kernels on fake tensors. It returns the launches
and the formulas of the torch operations between them, once for every autotune configuration.
`Recording.write(folder)` writes a project for `warpproof run`.
"""

from __future__ import annotations

from math import prod
from typing import Any, Callable, Mapping, Optional, Sequence

from ..trace.errors import Untraceable
from .project import Formula, Launch, Recording, Variant

#: The most combinations of configurations of autotuned kernels that are recorded.
COMBINATIONS = 64

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
    parts: bool = False,
) -> Recording:
    """Records a host function of torch tensors, or a module.

    `arguments` are tensors or specs with `.shape` and `.dtype`; other values are passed on. `target` is the
    architecture to compile for. `variants` is the most combinations of autotune configurations to record (all of them
    if not given): every kernel is tuned by itself.
    `weights` names parameters by their paths in the module; `mode` is the `FakeTensorMode` of fake tensors among the
    arguments. With `parts` a launch may write a part of memory that is used later.
    """
    from .finish import finished
    from .recorder import Run, run

    options = {"weights": weights, "mode": mode}
    capability = int(target.split("_")[-1].rstrip("af"))
    runs: list[Run] = []
    chosen: Optional[list[int]] = []
    asked: dict[str, int] = {}
    while chosen is not None and (variants is None or len(runs) < variants):
        runs.append(run(function, arguments, names, chosen, capability, **options))
        choices = runs[-1].recorder.choices
        asked.update(runs[-1].recorder.asked)
        if variants is None and max(prod(choices.counts), len(runs)) > COMBINATIONS:
            raise Untraceable(
                f"{prod(choices.counts)} combinations of configurations of autotuned kernels, more than {COMBINATIONS}",
                "keep only the configurations in use",
            )
        chosen = choices.following()
    made = [finished(one, outputs, parts) for one in runs]
    _require_same(made[0], lambda: finished(run(function, arguments, names, [], capability, **options), outputs, parts))
    return Recording(made, [f"the GPU has `{name}` {number}" for name, number in sorted(asked.items())])


def _require_same(first: Variant, again: Callable[[], Variant]) -> None:
    """Refuses a function that does something else when it is called again: it keeps results, or counts its calls."""
    try:
        second = again()
    except Exception as error:
        raise Untraceable(f"the function fails when it is called again: {error}", "make tensors that it keeps arguments or parameters") from error
    if first != second:
        raise Untraceable("the function behaves differently when it is called again")

