"""Python functions as references: traced to formulas, at the shapes of a kernel's arguments."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Any, Callable, Mapping

from warpproof.arguments import Tensor, known
from warpproof.errors import UsageError
from warpproof.kernels import Launch
from warpproof.report import as_argument


def formula(
    function: Callable[..., Any], launch: Launch, keywords: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Returns the formula of a function and the constant tensors it holds.

    The function's parameters are named after inputs of the kernel.
    """
    given = {**launch.arguments, **keywords}
    tensors = {name: as_argument(name, value) for name, value in given.items()}
    inputs = {
        name: value
        for name, value in tensors.items()
        if isinstance(value, Tensor) and value.direction in ("in", "inout") or _is_number(value)
    }
    outputs = [name for name, value in tensors.items() if isinstance(value, Tensor) and value.direction in ("out", "inout")]
    if not outputs:
        raise UsageError("the kernel has no output: mark one with `wp.out(…)`")
    names = _parameters(function, inputs)
    traced = tracer(function)(function, *(inputs[name] for name in names), names=names, outputs=outputs, avoid=list(given))
    _require_stores(traced, tensors)
    return str(traced.formula), _own(traced, given)


def _require_stores(traced: Any, tensors: Mapping[str, Any]) -> None:
    """Refuses a kernel that stores integers of the function in a wider type, if they may wrap around."""
    from warpproof.trace import Untraceable

    for name, _, _ in traced.outputs:
        objection = traced.stored_as(name, tensors[name].dtype) if name in tensors else ""
        if objection:
            raise Untraceable(objection)


def _own(traced: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the constants of a function with their contents: tensors it holds itself, not among the kernel's
    arguments.
    """
    missing = [name for name, _, _ in traced.inputs if name not in given]
    unknown = [name for name in missing if name not in traced.contents]
    if unknown:
        paths = ", ".join(f"`{name}`" for name in unknown)
        raise UsageError(f"the function holds tensors that are not arguments of the kernel: {paths}; give the kernel's arguments these names")
    return {name: known(traced.contents[name]) for name in missing}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _parameters(function: Callable[..., Any], inputs: Mapping[str, Any]) -> list[str]:
    """Returns the inputs that a function takes, by the names of its parameters, or else in their order."""
    called = getattr(function, "forward", function)
    tensors = [name for name, value in inputs.items() if isinstance(value, Tensor)]
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return tensors
    plain = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if any(one.kind == one.VAR_POSITIONAL for one in parameters):
        return tensors
    needed = [one.name for one in plain if one.default is one.empty or one.name in inputs]
    if all(name in inputs for name in needed):
        return needed
    required = [one.name for one in plain if one.default is one.empty]
    if len(required) <= len(tensors) and not any(name in inputs for name in required):
        return tensors[: len(required)]
    missing = next(name for name in needed if name not in inputs)
    raise UsageError(f"the function takes `{missing}`, but the kernel has no input of that name: {', '.join(inputs)}")


def tracer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the tracer for a function: torch's for functions and modules of torch, NumPy's otherwise."""
    is_torch = "torch" in sys.modules and _uses_torch(function)
    module = import_module(f"warpproof.trace.{'torch' if is_torch else 'numpy'}")
    trace: Callable[..., Any] = module.trace
    return trace


def _uses_torch(function: Callable[..., Any]) -> bool:
    import torch

    if isinstance(function, torch.nn.Module) or (getattr(function, "__module__", "") or "").startswith("torch"):
        return True
    if type(function).__module__.startswith("torch"):
        return True
    code = getattr(function, "__code__", None)
    if code is None:
        return type(function).__name__ == "builtin_function_or_method" and hasattr(torch, function.__name__)
    scope = getattr(function, "__globals__", {})
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    used = [scope.get(name) for name in code.co_names] + cells
    return any(_is_of_torch(value) for value in used)


def _is_of_torch(value: Any) -> bool:
    module = getattr(value, "__name__", "") if inspect.ismodule(value) else getattr(value, "__module__", "")
    return str(module or "").split(".")[0] == "torch" or type(value).__module__.split(".")[0] == "torch"
