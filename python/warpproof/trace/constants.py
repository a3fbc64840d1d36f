"""Arrays with known contents in a traced function.

A formula has no array literals. One number repeated, an integer progression along one axis, and masks that are
triangles (`np.tri`, of two values) become expressions; every other array becomes an input whose contents are kept in
`Traced.contents`.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import tensor as ops, value
from .formula import Builder, Tensor
from .index import Ix
from .value import Value

Array = np.ndarray[Any, Any]


def plain_number(element: Any) -> Any:
    """Returns a NumPy scalar as a Python number; floats by the shortest decimal of their own type."""
    if isinstance(element, np.floating):
        return float(str(element))
    return element.item() if isinstance(element, np.generic) else element


def known(b: Builder, array: Array, dtype: str, declare: Callable[[Array, str], Tensor]) -> Tensor:
    """Returns an array as a tensor; `declare` makes an input of what is no expression."""
    if array.size == 0:
        return ops.full(array.shape, 0, dtype)
    first = array.flat[0]
    if bool(np.all(array == first)):
        return ops.full(array.shape, plain_number(first), dtype)
    if dtype[0] in "su" and dtype != "bool":
        line = _progression(array)
        if line is not None:
            return _along(b, array.shape, dtype, *line)
    triangle = _triangle(array)
    if triangle is not None:
        return _two_values(b, array, dtype, triangle)
    return declare(array, dtype)


def _progression(array: Array) -> Optional[tuple[int, int, int]]:
    """Returns `(axis, start, step)` if elements are `start + step * index` of one axis."""
    for axis, extent in enumerate(array.shape):
        line = np.moveaxis(array, axis, 0).reshape(extent, -1)[:, 0].astype(np.int64)
        step = int(line[1] - line[0]) if extent > 1 else 0
        shape = [extent if a == axis else 1 for a in range(array.ndim)]
        if step and np.array_equal(
            np.broadcast_to((line[0] + step * np.arange(extent)).reshape(shape), array.shape), array
        ):
            return axis, int(line[0]), step
    return None


def _along(b: Builder, shape: Sequence[int], dtype: str, axis: int, start: int, step: int) -> Tensor:
    return b.tensor(shape, dtype, lambda at: value.of_index(at[axis] * step + start))


def _triangle(array: Array) -> Optional[int]:
    """Returns `k` if the array has two values: one where `column <= row + k`, the other elsewhere."""
    if array.ndim < 2:
        return None
    rows, columns = array.shape[-2:]
    matrix = array.reshape(-1, rows, columns)[0]
    if not np.array_equal(np.broadcast_to(matrix, array.shape), array):
        return None
    corner = matrix == matrix[-1, 0]
    k = int(corner[0].sum()) - 1 if corner[0].any() else -int(np.argmax(corner[:, 0]))
    lower = np.tri(rows, columns, k, dtype=bool)
    other = matrix[~lower]
    if not np.array_equal(corner, lower) or other.size == 0 or not bool(np.all(other == other.flat[0])):
        return None
    return k


def _two_values(b: Builder, array: Array, dtype: str, k: int) -> Tensor:
    inside, outside = array[(0,) * (array.ndim - 2)][-1, 0], array[(0,) * (array.ndim - 2)][0, -1]
    yes, no = (ops.scalar(plain_number(v), dtype).at([]) for v in (inside, outside))

    def element(at: Sequence[Ix]) -> Value:
        below = value.compare("<=", value.of_index(at[-1]), value.of_index(at[-2] + k))
        return value.select(below, yes, no)

    return b.tensor(array.shape, dtype, element)
