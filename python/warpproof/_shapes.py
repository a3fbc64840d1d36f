"""Smaller shapes for comparing functions, besides the shapes they are meant for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Mapping, Sequence, TypeVar

from warpproof.arguments import Tensor
from warpproof.errors import UsageError

#: Extents are reduced to at most these, or to the next odd number. The first limit at which the functions run is
#: taken.
LIMITS = (16, 32, 64)

Prepared = TypeVar("Prepared")


def smaller(extent: int, limit: int) -> int:
    """Returns `extent` if it is below `limit`. Otherwise returns `limit`, or the next odd number if `extent` is odd."""
    return extent if extent < limit else limit + extent % 2


def reduced(arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Returns the arguments with smaller tensors. Numbers stay, since it is not known which of them are sizes."""
    return {name: _shrunk(name, value, limit) for name, value in arguments.items()}


def _shrunk(name: str, value: Any, limit: int) -> Any:
    if not isinstance(value, Tensor):
        return value
    shape = tuple(smaller(extent, limit) for extent in value.shape)
    if shape != value.shape and (value.strides is not None or not _is_plain(value)):
        raise UsageError(f"`{name}` has strides or contents: give its smaller shape, `shapes={{\"{name}\": …}}`, or leave out `shapes`")
    return replace(value, shape=shape)


def _is_plain(value: Tensor) -> bool:
    return value.contents is None or isinstance(value.contents, (int, float))


def replaced(arguments: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments with the given shapes: a tuple, a tensor, or a number in place of a number."""
    unknown = [name for name in shapes if name not in arguments]
    if unknown:
        raise UsageError(f"`shapes` has `{unknown[0]}`, but the arguments are {', '.join(arguments)}")
    return {name: _with_shape(name, value, shapes.get(name)) for name, value in arguments.items()}


def _with_shape(name: str, value: Any, shape: Any) -> Any:
    if shape is None:
        return value
    if isinstance(shape, Tensor) or not isinstance(value, Tensor):
        return shape
    sizes = (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)
    if len(sizes) != len(value.shape):
        raise UsageError(f"`{name}` has {len(value.shape)} dimensions, but `shapes` gives {len(sizes)}")
    if value.strides is not None or not _is_plain(value):
        raise UsageError(f"`{name}` has strides or contents: give a tensor with those for the smaller shape, too")
    return replace(value, shape=sizes)


def chosen(
    shapes: Any, arguments: Mapping[str, Any], prepare: Callable[[Mapping[str, Any]], Prepared]
) -> list[tuple[dict[str, Any], Prepared]]:
    """Returns the arguments to compare at, each with the result of `prepare` on them.

    `shapes` is ``"reduced"``, shapes by name, or several of those.
    """
    if isinstance(shapes, str):
        if shapes != "reduced":
            raise UsageError(f"`shapes` is \"reduced\", or shapes by name: {{\"x\": (4, 200)}}; not {shapes!r}")
        return [_first_that_runs(arguments, prepare)]
    several: Sequence[Any] = [shapes] if isinstance(shapes, Mapping) else list(shapes)
    small = [replaced(arguments, one) for one in several]
    if not small:
        raise UsageError("`shapes` is empty")
    return [(one, prepare(one)) for one in small]


def _first_that_runs(
    arguments: Mapping[str, Any], prepare: Callable[[Mapping[str, Any]], Prepared]
) -> tuple[dict[str, Any], Prepared]:
    failure: Exception | None = None
    for limit in LIMITS:
        small = reduced(arguments, limit)
        try:
            return small, prepare(small)
        except UsageError:
            raise
        except Exception as error:  # contradictory shapes; the next limit may do
            failure = failure or error
    raise UsageError(f"the functions do not run at reduced shapes: {failure}; give shapes, `shapes={{\"x\": (4, 200)}}`") from failure


def described(arguments: Mapping[str, Any]) -> str:
    """Returns the shapes as text: ``x[16,17]``."""
    tensors = [(name, value) for name, value in arguments.items() if isinstance(value, Tensor)]
    return ", ".join(f"{name}[{','.join(map(str, value.shape))}]" for name, value in tensors)
