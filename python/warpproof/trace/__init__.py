"""Functions as formulas: `trace(function, *specs)` returns the text, the inputs and the outputs.

A torch module or function goes through `torch.export` (`trace.torch`); anything else runs on symbolic NumPy arrays
(`trace.numpy`). Neither torch nor NumPy is imported before it is needed.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

from .errors import Untraceable
from .traced import Traced

__all__ = ["Traced", "Untraceable", "trace"]


def trace(
    function: Callable[..., Any],
    *specs: Any,
    names: Optional[Sequence[str]] = None,
    outputs: Optional[Sequence[str]] = None,
    avoid: Sequence[str] = (),
    frontend: Optional[str] = None,
) -> Traced:
    """Traces a function on arguments of given shapes and types.

    `specs` have `.shape` and `.dtype` (a string such as "f32"); other values are passed on unchanged. `names` and
    `outputs` name the tensors of the formula; by default they are the names of the parameters, and `y` or `y0`, `y1`,
    …. `avoid` are names not to be used for indices and definitions: other arguments of the kernel to compare with.
    `frontend` is "torch" or "numpy", for functions that do not show which one they need.
    """
    chosen = frontend or ("torch" if uses_torch(function, specs) else "numpy")
    if chosen == "torch":
        from .torch import trace as torch_trace

        return torch_trace(function, *specs, names=names, outputs=outputs, avoid=avoid)
    from .numpy import trace as numpy_trace

    return numpy_trace(function, *specs, names=names, outputs=outputs, avoid=avoid)


def uses_torch(function: Any, specs: Sequence[Any] = ()) -> bool:
    """Returns `True` if a function is torch's, or mentions torch in its code or in functions it calls."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    if isinstance(function, torch.nn.Module) or any(isinstance(s, torch.Tensor) for s in specs):
        return True
    return _mentions(function, "torch", set(), 4)


def _mentions(thing: Any, package: str, seen: set[int], depth: int) -> bool:
    if id(thing) in seen or depth == 0:
        return False
    seen.add(id(thing))
    if isinstance(thing, ModuleType):
        return thing.__name__.split(".")[0] == package
    home = getattr(thing, "__module__", None) or getattr(type(thing), "__module__", None) or ""
    if str(home).split(".")[0] == package or str(type(thing).__module__).split(".")[0] == package:
        return True
    if (
        repr(thing).startswith("<built-in")
        and getattr(sys.modules.get(package), getattr(thing, "__name__", ""), None) is thing
    ):
        return True
    code = getattr(thing, "__code__", None)
    if code is None:
        inner = getattr(thing, "func", None) or getattr(thing, "__wrapped__", None)
        return inner is not None and _mentions(inner, package, seen, depth - 1)
    scope = getattr(thing, "__globals__", {})
    found = [scope[name] for name in _names(code) if name in scope]
    for cell in getattr(thing, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return any(_mentions(one, package, seen, depth - 1) for one in found)


def _names(code: Any) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names(constant)
    return names
