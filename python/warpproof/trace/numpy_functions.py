"""Functions and methods of NumPy on symbolic arrays.

Each takes the arguments of NumPy's function. An argument that changes the meaning and is not handled is refused,
never ignored.

Joins, products and choices are in `numpy_more`.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, TypeVar, Union

import numpy as np

from . import reduce as red, tensor as ops, value
from .errors import Untraceable
from .formula import Builder, Tensor
from .numpy import SymbolicArray, dtype_name, lift, result_type

Axes = Union[None, int, Sequence[int]]
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def function(*targets: Any, method: Optional[str] = None) -> Callable[[F], F]:
    """Registers the function in place of NumPy's own, and as a method."""

    def register(made: F) -> F:
        for target in targets:
            FUNCTIONS[target] = made
        if method:
            METHODS[method] = made
        return made

    return register


def builder(*arrays: Any) -> Builder:
    """Returns the formula under construction."""
    for array in arrays:
        if isinstance(array, SymbolicArray):
            return array._b
        if isinstance(array, (list, tuple)):
            try:
                return builder(*array)
            except LookupError:
                continue
    raise LookupError


def made(b: Builder, tensor: Tensor, dtype: Any) -> SymbolicArray:
    """Returns a new array."""
    return SymbolicArray(b, tensor, dtype)


def unset(**options: Any) -> None:
    """Refuses options that are set."""
    for name, given in options.items():
        if given is not None and given is not np._NoValue:
            raise Untraceable(f"`{name}=`")


# -- reductions


def _reducer(operation: str, plain: Callable[..., Any]) -> Callable[..., SymbolicArray]:
    def apply(
        a: Any,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> SymbolicArray:
        unset(out=out, initial=initial, where=None if where is True else where)
        a = lift(builder(a), a)
        kind = np.dtype(dtype) if dtype is not None else result_type(plain, [a])
        source = ops.cast(a._b, a.tensor, "bool") if operation in ("any", "all") else a.tensor
        if source.kind == "bool" and operation in ("max", "min"):
            raise Untraceable("a maximum of truth values", "use any or all")
        keep = bool(keepdims) and keepdims is not np._NoValue
        if isinstance(axis, (list, tuple)) and len(axis) == 0:
            return made(a._b, ops.cast(a._b, source, dtype_name(kind)), kind)
        return made(a._b, red.reduce(a._b, operation, source, axis, keep, dtype_name(kind)), kind)

    return apply


def _plain(operation: str) -> Callable[..., Any]:
    return getattr(np, operation)  # type: ignore[no-any-return]


total, _prod, mean = (_reducer(n, _plain(n)) for n in ("sum", "prod", "mean"))
_any, _all = (_reducer(n, _plain(n)) for n in ("any", "all"))


def _extremum(operation: str) -> Callable[..., SymbolicArray]:
    inner = _reducer(operation, _plain(operation))

    def apply(
        a: Any, axis: Axes = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> SymbolicArray:
        return inner(a, axis, None, out, keepdims, initial, where)

    return apply


_max, _min = _extremum("max"), _extremum("min")

for _names, _one in (
    ("sum", total), ("prod", _prod), ("mean", mean), ("any", _any), ("all", _all), ("max amax", _max), ("min amin", _min),
):  # fmt: skip
    for _name in _names.split():
        FUNCTIONS[getattr(np, _name)] = _one
    METHODS[_names.split()[0]] = _one


def _scan(operation: str, name: str) -> Callable[..., SymbolicArray]:
    def apply(a: Any, axis: Optional[int] = None, dtype: Any = None, out: Any = None) -> SymbolicArray:
        unset(out=out)
        a = lift(builder(a), a)
        if axis is None:
            a, axis = made(a._b, ops.reshape(a.tensor, [a.size]), a.dtype), 0
        kind = np.dtype(dtype) if dtype is not None else a.dtype if name == "" else result_type(_plain(name), [a])
        source = ops.cast(a._b, a.tensor, dtype_name(kind))
        return made(a._b, red.scan(a._b, operation, source, axis, dtype_name(kind), name or "cumulative"), kind)

    return apply


_cumsum = function(np.cumsum, method="cumsum")(_scan("sum", "cumsum"))
_cumprod = function(np.cumprod, method="cumprod")(_scan("prod", "cumprod"))

REDUCERS = {
    np.add: total,
    np.multiply: _prod,
    np.maximum: _max,
    np.minimum: _min,
    np.logical_and: _all,
    np.logical_or: _any,
}
SCANS = {np.add: _cumsum, np.multiply: _cumprod, np.maximum: _scan("max", ""), np.minimum: _scan("min", "")}


def _arg(operation: str) -> Callable[..., SymbolicArray]:
    def apply(a: Any, axis: Optional[int] = None, out: Any = None, *, keepdims: Any = False) -> SymbolicArray:
        unset(out=out)
        keep = bool(keepdims) and keepdims is not np._NoValue
        return made(a._b, red.arg(a._b, operation, a.tensor, axis, keep, "s64"), np.int64)

    return apply


function(np.argmax, method="argmax")(_arg("argmax"))
function(np.argmin, method="argmin")(_arg("argmin"))


def _spread(root: bool) -> Callable[..., SymbolicArray]:
    def apply(
        a: Any, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
        where: Any = None, mean: Any = None, correction: Any = None,
    ) -> SymbolicArray:  # fmt: skip
        unset(dtype=dtype, out=out, where=where, mean=mean)
        less = correction if correction is not None and correction is not np._NoValue else ddof
        keep = bool(keepdims) and keepdims is not np._NoValue
        kind = result_type(np.var, [a])
        name = dtype_name(kind)
        _, result = red.variance(a._b, a.tensor, axis, keep, name, less)
        if root:
            result = ops.elementwise(a._b, name, lambda v: value.call("sqrt", v), result)
        return made(a._b, result, kind)

    return apply


function(np.var, method="var")(_spread(False))
function(np.std, method="std")(_spread(True))


@function(np.linalg.norm)
def _norm(x: SymbolicArray, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> SymbolicArray:
    if ord not in (None, 1, 2, np.inf) or (ord is not None and (x.ndim if axis is None else np.size(axis)) != 1):
        raise Untraceable("this norm")
    if ord == np.inf:
        return _max(abs(x), axis, keepdims=keepdims)
    if ord == 1:
        return total(abs(x), axis, keepdims=keepdims)
    squares: Any = total(x * x, axis, keepdims=keepdims)
    return np.sqrt(squares)  # type: ignore[no-any-return]


@function(np.average)
def _average(
    a: Any, axis: Axes = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> SymbolicArray:
    if returned:
        raise Untraceable("`returned=`")
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    b = builder(a, weights)
    a, weights = lift(b, a), lift(b, weights)
    if a.shape != weights.shape:
        raise Untraceable("weights of another shape")
    return total(a * weights, axis, keepdims=keepdims) / total(weights, axis, keepdims=keepdims)  # type: ignore[no-any-return]


# -- views


@function(np.reshape, method="reshape")
def reshape(a: SymbolicArray, *shape: Any, order: str = "C", **options: Any) -> SymbolicArray:
    unset(copy=options.pop("copy", None))
    target = options.pop("shape", None) or options.pop("newshape", None) or (shape[0] if len(shape) == 1 else shape)
    if order != "C" or options:
        raise Untraceable("reshape in another order")
    return a.reshaped([int(e) for e in np.atleast_1d(target)] if target != () else [])


@function(np.ravel, method="ravel")
def ravel(a: SymbolicArray, order: str = "C") -> SymbolicArray:
    return reshape(a, [a.size], order=order)


@function(np.copy, method="copy")
def copy(a: SymbolicArray, order: str = "K", subok: bool = False) -> SymbolicArray:
    return made(a._b, a.tensor, a.dtype)


METHODS["flatten"] = lambda a, order="C": copy(ravel(a, order))


@function(np.transpose, method="transpose")
def _transpose(a: SymbolicArray, *axes: Any) -> SymbolicArray:
    given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    order = list(range(a.ndim))[::-1] if given is None else list(given)
    return a.view_of(lambda t: ops.permute(t, order))


@function(np.swapaxes, method="swapaxes")
def _swapaxes(a: SymbolicArray, axis1: int, axis2: int) -> SymbolicArray:
    order = list(range(a.ndim))
    one, two = ops.axis_of(axis1, a.ndim), ops.axis_of(axis2, a.ndim)
    order[one], order[two] = order[two], order[one]
    return a.view_of(lambda t: ops.permute(t, order))


@function(np.moveaxis)
def _moveaxis(a: SymbolicArray, source: Any, destination: Any) -> SymbolicArray:
    moved = np.moveaxis(_labels(a.ndim), source, destination)
    return a.view_of(lambda t: ops.permute(t, [extent - 2 for extent in moved.shape]))


def _labels(rank: int) -> Any:
    """Returns an array in which each axis is identified by its extent."""
    return np.broadcast_to(np.zeros(()), range(2, rank + 2))


@function(np.squeeze, method="squeeze")
def _squeeze(a: SymbolicArray, axis: Axes = None) -> SymbolicArray:
    axes = [axis] if isinstance(axis, int) else axis
    if axes is not None and any(a.shape[x] != 1 for x in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a.view_of(lambda t: ops.squeeze(t, axes))


@function(np.expand_dims)
def expand_dims(a: SymbolicArray, axis: Any) -> SymbolicArray:
    rank = a.ndim + np.size(axis)

    def derive(t: Tensor) -> Tensor:
        for one in sorted(ops.axis_of(int(x), rank) for x in np.atleast_1d(axis)):
            t = ops.unsqueeze(t, one)
        return t

    return a.view_of(derive)


@function(np.broadcast_to)
def _broadcast_to(array: SymbolicArray, shape: Any, subok: bool = False) -> SymbolicArray:
    target = tuple(int(e) for e in np.atleast_1d(shape))
    if ops.broadcast_shape(array.shape, target) != target:
        raise ValueError(f"{array.shape} does not broadcast to {target}")
    return array.view_of(lambda t: ops.expand(t, target))


@function(np.broadcast_arrays)
def _broadcast_arrays(*arrays: Any, subok: bool = False) -> list[SymbolicArray]:
    b = builder(arrays)
    lifted = [lift(b, a) for a in arrays]
    shape = ops.broadcast_shape(*(a.shape for a in lifted))
    return [_broadcast_to(a, shape) for a in lifted]


@function(np.flip)
def flip(m: SymbolicArray, axis: Axes = None) -> SymbolicArray:
    axes = ops.axes_of(axis, m.ndim)
    return m.view_of(lambda t: ops.flip(t, axes))


function(np.flipud)(lambda m: flip(m, 0))
function(np.fliplr)(lambda m: flip(m, 1))


@function(np.roll)
def _roll(a: SymbolicArray, shift: Any, axis: Any = None) -> SymbolicArray:
    if axis is None:
        return reshape(_roll(ravel(a), shift, 0), a.shape)
    t = a.tensor
    for one, place in np.broadcast(shift, axis):
        t = ops.roll(t, int(one), int(place))
    return made(a._b, t, a.dtype)


@function(np.lib.stride_tricks.sliding_window_view)
def windows(
    x: SymbolicArray, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> SymbolicArray:
    sizes = [int(s) for s in np.atleast_1d(window_shape)]
    axes = list(range(x.ndim)) if axis is None else [ops.axis_of(int(a), x.ndim) for a in np.atleast_1d(axis)]
    if len(sizes) != len(axes):
        raise ValueError("one window size for each axis")

    def derive(t: Tensor) -> Tensor:
        for one, size in zip(axes, sizes):
            t = ops.unfold(t, one, size, 1)
        return t

    return x.view_of(derive)


@function(np.diagonal, method="diagonal")
def diagonal(a: SymbolicArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> SymbolicArray:
    one, two = ops.axis_of(axis1, a.ndim), ops.axis_of(axis2, a.ndim)
    shape = np.diagonal(np.empty(a.shape, dtype=np.int8), offset, one, two).shape
    return a.view_of(lambda t: ops.diagonal(t, offset, one, two, shape))


@function(np.trace, method="trace")
def _trace(
    a: SymbolicArray, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> SymbolicArray:
    return total(diagonal(a, offset, axis1, axis2), -1, dtype, out)
