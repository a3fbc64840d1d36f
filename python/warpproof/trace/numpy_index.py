"""Indexing and assignment of symbolic arrays by NumPy's rules."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import tensor as ops
from .errors import Untraceable
from .formula import Tensor
from .numpy import SymbolicArray, dtype_name, here, lift, refuse

_MASK = "a mask as an index: the shape of the result depends on contents"


def _entries(array: SymbolicArray, key: Any) -> list[Any]:
    """Returns one entry for each axis, `None` for new axes. Masks with known contents become positions."""
    parts: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        plain = (
            np.asarray(part) if isinstance(part, (list, np.ndarray, np.bool_, bool)) and not _symbolic(part) else None
        )
        if plain is not None and plain.dtype == bool:
            if plain.ndim == 0:
                raise refuse("a single truth value as an index")
            parts.extend(np.nonzero(plain))
        else:
            parts.append(plain if plain is not None else part)
    axes = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if axes > array.ndim:
        raise IndexError(f"{axes} indices for an array of {array.ndim} axes")
    rest: list[Any] = [slice(None)] * (array.ndim - axes)
    dots = [n for n, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis")
    return [*parts[: dots[0]], *rest, *parts[dots[0] + 1 :]] if dots else [*parts, *rest]


def _symbolic(part: Any) -> bool:
    if isinstance(part, (list, tuple)):
        return any(_symbolic(p) for p in part)
    return isinstance(part, SymbolicArray)


def _position(part: Any) -> Optional[int]:
    """Returns an integer that is not symbolic."""
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        return int(part)
    if isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    return None


def getitem(array: SymbolicArray, key: Any) -> SymbolicArray:
    """Returns `array[key]`: a view if the key is basic, a copy if it contains arrays."""
    array._b.line = here()
    entries = _entries(array, key)
    basic = all(e is None or isinstance(e, slice) or _position(e) is not None for e in entries)
    if basic:
        return array.view_of(lambda t: _basic(t, entries), key)
    return SymbolicArray(array._b, _advanced(array, entries), array.dtype)


def _basic(t: Tensor, entries: list[Any]) -> Tensor:
    axis = 0
    for entry in entries:
        position = _position(entry)
        if entry is None:
            t, axis = ops.unsqueeze(t, axis), axis + 1
        elif position is not None:
            if not -t.shape[axis] <= position < t.shape[axis]:
                raise IndexError(f"index {position} is out of bounds for axis {axis} with size {t.shape[axis]}")
            t = ops.select(t, axis, position)
        else:
            t, axis = ops.take_slice(t, axis, entry), axis + 1
    return t


def _advanced(array: SymbolicArray, entries: list[Any]) -> Tensor:
    t, axis = array.tensor, 0
    places: list[Optional[Tensor]] = []
    for entry in entries:
        if entry is None:
            t = ops.unsqueeze(t, axis)
            places.append(None)
        elif isinstance(entry, slice):
            t = ops.take_slice(t, axis, entry)
            places.append(None)
        else:
            places.append(_place(array, entry, t.shape[axis]))
        axis += 1
    try:
        return ops.gather(array._b, t, places)
    except Untraceable as error:
        raise error.at("[]", here()) from error


def _place(array: SymbolicArray, entry: Any, extent: int) -> Tensor:
    if not isinstance(entry, SymbolicArray):
        known = np.asarray(entry)
        if known.dtype.kind not in "iu":
            raise IndexError("arrays used as indices must be of integer or boolean type")
        if known.size and not (-extent <= known.min() and known.max() < extent):
            raise IndexError(f"an index is out of bounds for an axis of size {extent}")
        return lift(array._b, np.where(known < 0, known + extent, known)).tensor
    if entry.dtype == bool:
        raise refuse(_MASK, "write np.where(mask, a, b)")
    return entry.tensor


def setitem(array: SymbolicArray, key: Any, new: Any) -> None:
    """Performs `array[key] = new` as a new formula."""
    b = array._b
    b.line = here()
    patch = ops.cast(b, lift(b, new).tensor, dtype_name(array.dtype))
    if isinstance(key, SymbolicArray) and key.dtype == bool:
        _masked(array, key, patch)
        return
    entries = _entries(array, key)
    places: list[range] = []
    shape: list[int] = []
    for entry in entries:
        if entry is None or not (isinstance(entry, slice) or _position(entry) is not None):
            raise refuse("assignment at positions given by arrays", "write np.where, or loop over the positions")
        chosen = _range(entry, array.shape[len(places)])
        places.append(chosen)
        shape.extend([len(chosen)] if isinstance(entry, slice) else [])
    while len(patch.shape) > len(shape) and patch.shape[0] == 1:
        patch = ops.select(patch, 0, 0)
    if len(patch.shape) > len(shape) or any(e not in (1, s) for e, s in zip(patch.shape[::-1], shape[::-1])):
        raise ValueError(f"could not broadcast {patch.shape} into {tuple(shape)}")
    whole = ops.reshape(ops.expand(patch, shape), [len(p) for p in places])
    array.replace(ops.assign(b, array.tensor, whole, places))


def _range(entry: Any, extent: int) -> range:
    position = _position(entry)
    if position is None:
        return range(*entry.indices(extent))
    if not -extent <= position < extent:
        raise IndexError(f"index {position} is out of bounds for an axis of size {extent}")
    return range(position % extent, position % extent + 1)


def _masked(array: SymbolicArray, mask: SymbolicArray, patch: Tensor) -> None:
    if mask.shape != array.shape[: mask.ndim] or patch.shape not in ((), (1,)):
        raise refuse("assignment of an array by a mask", "write np.where(mask, new, old)")
    from . import value

    wide = ops.reshape(mask.tensor, [*mask.shape, *[1] * (array.ndim - mask.ndim)])
    fill = ops.reshape(patch, ())
    array.replace(ops.elementwise(array._b, dtype_name(array.dtype), value.select, wide, fill, array.tensor, name="where"))
