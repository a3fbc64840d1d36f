"""Functions of NumPy on symbolic arrays: joining, products, choosing, making arrays.

An argument that changes the meaning and is not handled is refused, as in `numpy_functions`.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import reduce as red, tensor as ops, value
from .errors import Untraceable
from .numpy import SymbolicArray, dtype_name, lift, refuse, result_type
from .numpy_functions import (
    METHODS, builder, copy, diagonal, expand_dims, flip, function, made, ravel, total, unset, windows,
)  # fmt: skip


@function(np.concatenate)
def _concatenate(
    arrays: Sequence[Any], axis: Optional[int] = 0, out: Any = None, dtype: Any = None, casting: str = "same_kind"
) -> SymbolicArray:
    unset(out=out)
    b = builder(arrays)
    lifted = [lift(b, a) for a in arrays]
    if axis is None:
        lifted, axis = [ravel(a) for a in lifted], 0
    kind = np.dtype(dtype) if dtype is not None else np.result_type(*(a.dtype for a in lifted))
    parts = [ops.cast(b, a.tensor, dtype_name(kind)) for a in lifted]
    shapes = {tuple(e for n, e in enumerate(p.shape) if n != ops.axis_of(axis, len(p.shape))) for p in parts}
    if len(shapes) != 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    return made(b, ops.cat(b, parts, axis, dtype_name(kind)), kind)


@function(np.stack)
def stack(arrays: Sequence[Any], axis: int = 0, out: Any = None, **options: Any) -> SymbolicArray:
    """Joins arrays along a new axis. Nested lists become arrays."""
    b = builder(arrays)
    lifted = [lift(b, a) for a in arrays]
    place = ops.axis_of(axis, lifted[0].ndim + 1)
    return _concatenate([expand_dims(a, place) for a in lifted], place, out, **options)


def _at_least(array: SymbolicArray, rank: int) -> SymbolicArray:
    while array.ndim < rank:
        array = expand_dims(array, 0)
    return array


@function(np.vstack)
def _vstack(tup: Sequence[Any], **options: Any) -> SymbolicArray:
    b = builder(tup)
    return _concatenate([_at_least(lift(b, a), 2) for a in tup], 0, **options)


@function(np.hstack)
def _hstack(tup: Sequence[Any], **options: Any) -> SymbolicArray:
    b = builder(tup)
    lifted = [_at_least(lift(b, a), 1) for a in tup]
    return _concatenate(lifted, 0 if lifted[0].ndim == 1 else 1, **options)


@function(np.split, np.array_split)
def _split(ary: SymbolicArray, indices_or_sections: Any, axis: int = 0) -> list[SymbolicArray]:
    ends = np.array_split(np.arange(ary.shape[axis]), indices_or_sections)
    key: list[Any] = [slice(None)] * ary.ndim
    parts, start = [], 0
    for end in ends:
        key[axis] = slice(start, start + len(end))
        parts.append(ary[tuple(key)])
        start += len(end)
    return parts


@function(np.tile)
def _tile(A: SymbolicArray, reps: Any) -> SymbolicArray:
    times = [int(r) for r in np.atleast_1d(reps)]
    times = [1] * (A.ndim - len(times)) + times
    return made(A._b, ops.repeat(A.tensor, times), A.dtype)


@function(np.repeat, method="repeat")
def _repeat(a: SymbolicArray, repeats: Any, axis: Optional[int] = None) -> SymbolicArray:
    if not isinstance(repeats, (int, np.integer)):
        raise Untraceable("repeats that differ")
    if axis is None:
        a, axis = ravel(a), 0
    place = ops.axis_of(axis, a.ndim)
    shape = [e * int(repeats) if n == place else e for n, e in enumerate(a.shape)]
    t = ops.view(a.tensor, shape, lambda at: [ix // int(repeats) if n == place else ix for n, ix in enumerate(at)])
    return made(a._b, t, a.dtype)


def pad_with(array: SymbolicArray, widths: Sequence[tuple[int, int]], outside: Any) -> SymbolicArray:
    """Adds a constant around an array."""
    return made(array._b, ops.pad(array._b, array.tensor, widths, outside), array.dtype)


@function(np.pad)
def _pad(array: SymbolicArray, pad_width: Any, mode: str = "constant", **options: Any) -> SymbolicArray:
    widths = [(int(b), int(a)) for b, a in np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))]
    if mode == "constant":
        outside = options.pop("constant_values", 0)
        if options or np.ndim(outside) or isinstance(outside, SymbolicArray):
            raise Untraceable("padding with several values")
        return pad_with(array, widths, outside)
    if mode not in ("edge", "reflect", "wrap", "symmetric") or options:
        raise Untraceable(f"padding by `{mode}`")
    for axis, (before, after) in enumerate(widths):
        extent = array.shape[axis]
        order = np.pad(np.arange(extent), (before, after), mode=mode)  # type: ignore[call-overload]
        key: list[Any] = [slice(None)] * array.ndim
        parts = []
        for start, stop, step in _runs(order):
            key[axis] = slice(start, stop if stop >= 0 else None, step)
            parts.append(array[tuple(key)])
        array = _concatenate(parts, axis)
    return array


def _runs(order: Any) -> list[tuple[int, int, int]]:
    """Cuts a list of positions into slices."""
    runs: list[tuple[int, int, int]] = []
    for place in map(int, order):
        if runs:
            start, stop, step = runs[-1]
            if abs(place - (stop - step)) == 1 and (stop - start == step or place == stop):
                step = place - (stop - step)
                runs[-1] = (start, place + step, step)
                continue
        runs.append((place, place + 1, 1))
    return runs


# -- products


@function(np.dot, method="dot")
def _dot(a: Any, b: Any, out: Any = None) -> SymbolicArray:
    unset(out=out)
    where_from = builder(a, b)
    one, two = lift(where_from, a), lift(where_from, b)
    if not one.ndim or not two.ndim:
        return one * two  # type: ignore[no-any-return]
    if two.ndim <= 2 and one.ndim <= 2:
        return product("matmul", one, two)
    return _tensordot(one, two, ([-1], [-2 if two.ndim > 1 else 0]))


def product(name: str, one: SymbolicArray, two: SymbolicArray) -> SymbolicArray:
    """Multiplies by `matmul`, `vecdot`, `matvec` or `vecmat`."""
    kind = np.result_type(one.dtype, two.dtype)
    x, y = one.tensor, two.tensor
    if name == "vecdot":
        return total(one * two, -1)
    if name == "matvec":
        return made(one._b, ops.squeeze(red.matmul(one._b, x, ops.unsqueeze(y, -1), dtype_name(kind)), [-1]), kind)
    if name == "vecmat":
        return made(one._b, ops.squeeze(red.matmul(one._b, ops.unsqueeze(x, -2), y, dtype_name(kind)), [-2]), kind)
    return made(one._b, red.matmul(one._b, x, y, dtype_name(kind)), kind)


@function(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> SymbolicArray:
    source = builder(a, b)
    one, two = lift(source, a), lift(source, b)
    if isinstance(axes, int):
        axes = (list(range(one.ndim - axes, one.ndim)), list(range(axes)))
    left = [ops.axis_of(int(x), one.ndim) for x in np.atleast_1d(axes[0])]
    right = [ops.axis_of(int(x), two.ndim) for x in np.atleast_1d(axes[1])]
    names = "abcdefghijklmnopqrstuvwxyz"
    first = names[: one.ndim]
    second = [names[one.ndim + n] for n in range(two.ndim)]
    for x, y in zip(left, right):
        second[y] = first[x]
    result = [c for c in first if c not in [first[x] for x in left]] + [
        c for n, c in enumerate(second) if n not in right
    ]
    return _einsum(f"{first},{''.join(second)}->{''.join(result)}", one, two)


@function(np.inner)
def _inner(a: Any, b: Any) -> SymbolicArray:
    return _tensordot(a, b, ([-1], [-1]))


@function(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> SymbolicArray:
    unset(out=out)
    source = builder(a, b)
    return ravel(lift(source, a))[:, None] * ravel(lift(source, b))[None, :]  # type: ignore[no-any-return]


function(np.vdot)(lambda a, b: _dot(ravel(a), ravel(b)))


@function(np.einsum)
def _einsum(subscripts: str, *operands: Any, out: Any = None, optimize: Any = None, **options: Any) -> SymbolicArray:
    unset(out=out, **options)
    if not isinstance(subscripts, str):
        raise Untraceable("einsum without a string")
    b = builder(operands)
    arrays = [lift(b, o) for o in operands]
    inputs, result = _labels_of(subscripts.replace(" ", ""), [a.ndim for a in arrays])
    kind = np.result_type(*(a.dtype for a in arrays))
    return made(b, red.contract(b, [a.tensor for a in arrays], inputs, result, dtype_name(kind)), kind)


def _labels_of(text: str, ranks: list[int]) -> tuple[list[str], str]:
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise Untraceable(f"einsum of {len(parts)} operands, {len(ranks)} are given")
    spare = [c for c in "ZYXWVUTSRQPONML" if c not in text]
    extra = max((rank - len(p.replace("...", "")) for p, rank in zip(parts, ranks) if "..." in p), default=0)
    dots = "".join(spare[:extra])
    inputs = []
    for part, rank in zip(parts, ranks):
        own = rank - len(part.replace("...", ""))
        inputs.append(part.replace("...", dots[extra - own :] if own else ""))
        if len(inputs[-1]) != rank:
            raise Untraceable(f"einsum: `{part}` for {rank} axes")
    plain = left.replace(",", "").replace("...", "")
    implicit = dots + "".join(sorted(c for c in set(plain) if plain.count(c) == 1))
    return inputs, right.replace("...", dots) if arrow else implicit


# -- choosing


@function(np.where)
def where(condition: Any, *choices: Any) -> SymbolicArray:
    """Chooses elements by a condition."""
    if len(choices) != 2:
        raise refuse("np.where without values: the shape depends on contents", "give both values", "np.where")
    b = builder(condition, *choices)
    kind = result_type(lambda x, y: np.where(True, x, y), choices)
    arrays = [lift(b, condition), *(lift(b, c) for c in choices)]
    return made(b, ops.elementwise(b, dtype_name(kind), value.select, *(a.tensor for a in arrays), name="where"), kind)


@function(np.diag)
def _diag(v: SymbolicArray, k: int = 0) -> SymbolicArray:
    if v.ndim == 2:
        return copy(diagonal(v, k))
    n = v.shape[0] + abs(k)
    placed = pad_with(v, [(max(k, 0), max(-k, 0))], 0)
    return where(np.eye(n, k=k) > 0, placed[None, :], lift(v._b, np.zeros((), v.dtype)))


@function(np.clip, method="clip")
def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> SymbolicArray:
    unset(out=out, **options)
    low, high = (a_min if min in (None, np._NoValue) else min), (a_max if max in (None, np._NoValue) else max)
    for limit, bound in ((low, np.maximum), (high, np.minimum)):
        if limit is not None and limit is not np._NoValue:
            a = bound(a, limit)
    return a  # type: ignore[no-any-return]


@function(np.tril)
def _tril(m: SymbolicArray, k: int = 0) -> SymbolicArray:
    return where(np.tri(m.shape[-2], m.shape[-1], k, dtype=bool), m, lift(m._b, np.zeros((), m.dtype)))


@function(np.triu)
def _triu(m: SymbolicArray, k: int = 0) -> SymbolicArray:
    return where(np.tri(m.shape[-2], m.shape[-1], k - 1, dtype=bool), lift(m._b, np.zeros((), m.dtype)), m)


@function(np.take, method="take")
def _take(
    a: SymbolicArray, indices: Any, axis: Optional[int] = None, out: Any = None, mode: str = "raise"
) -> SymbolicArray:
    unset(out=out, mode=None if mode == "raise" else mode)
    if not isinstance(a, SymbolicArray):
        a = lift(builder(indices), a)
    if axis is None:
        a, axis = ravel(a), 0
    key: list[Any] = [slice(None)] * a.ndim
    key[axis] = indices if isinstance(indices, (SymbolicArray, int)) else np.asarray(indices)
    return a[tuple(key)]


@function(np.take_along_axis)
def _take_along(arr: Any, indices: Any, axis: int = -1) -> SymbolicArray:
    b = builder(arr, indices)
    arr, indices = lift(b, arr), lift(b, indices)
    place = ops.axis_of(axis, arr.ndim)
    key: list[Any] = [
        np.arange(e).reshape([-1 if n == a else 1 for n in range(arr.ndim)]) for a, e in enumerate(indices.shape)
    ]
    key[place] = indices
    return arr[tuple(key)]  # type: ignore[no-any-return]


@function(np.diff)
def _diff(a: SymbolicArray, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> SymbolicArray:
    unset(prepend=prepend, append=append)
    for _ in range(n):
        ahead: list[Any] = [slice(None)] * a.ndim
        behind = list(ahead)
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        a = a[tuple(ahead)] - a[tuple(behind)]
    return a


# -- making arrays


def _filled(number: Any) -> Callable[..., SymbolicArray]:
    def apply(
        a: SymbolicArray, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **options: Any
    ) -> SymbolicArray:
        unset(**options)
        kind = np.dtype(dtype) if dtype is not None else a.dtype
        extents = a.shape if shape is None else tuple(np.atleast_1d(shape))
        return made(a._b, ops.full(extents, number, dtype_name(kind)), kind)

    return apply


function(np.zeros_like)(_filled(0))
function(np.ones_like)(_filled(1))


@function(np.empty_like)
def _empty_like(a: SymbolicArray, *arguments: Any, **options: Any) -> SymbolicArray:
    raise refuse("np.empty_like: elements that nothing assigns are undefined", "use np.zeros_like", "np.empty_like")


@function(np.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None, **options: Any) -> SymbolicArray:
    b = builder(a, fill_value)
    kind = np.dtype(dtype) if dtype is not None else a.dtype
    if not isinstance(fill_value, SymbolicArray):
        return made(b, ops.full(np.shape(a), np.asarray(fill_value).item(), dtype_name(kind)), kind)
    return made(b, ops.expand(ops.cast(b, fill_value.tensor, dtype_name(kind)), np.shape(a)), kind)


@function(np.astype if hasattr(np, "astype") else object(), method="astype")
def _astype(a: SymbolicArray, dtype: Any, *_: Any, **__: Any) -> SymbolicArray:
    kind = np.dtype(dtype)
    return made(a._b, ops.cast(a._b, a.tensor, dtype_name(kind)), kind)


@function(np.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> SymbolicArray:
    b = builder(a, v)
    long, short = lift(b, a), lift(b, v)
    if short.shape[0] > long.shape[0]:
        long, short = short, long
    n = short.shape[0]
    edge = {"full": (n - 1, n - 1), "same": (n // 2, (n - 1) // 2), "valid": (0, 0)}[mode]
    if mode == "same":
        edge = (n - 1 - (n - 1) // 2, (n - 1) // 2)
    return product("matmul", windows(pad_with(long, [edge], 0), n), flip(short))


function(np.shape)(lambda a: a.shape)
function(np.ndim)(lambda a: a.ndim)
function(np.size)(lambda a, axis=None: a.size if axis is None else a.shape[axis])
function(np.iscomplexobj)(lambda x: False)
function(np.isrealobj)(lambda x: True)
function(np.real)(lambda x: x)
function(np.result_type)(lambda *a: np.result_type(*(x.dtype if isinstance(x, SymbolicArray) else x for x in a)))
METHODS["conj"] = METHODS["conjugate"] = lambda a: a
METHODS["fill"] = lambda a, number: a.__setitem__(Ellipsis, number)
