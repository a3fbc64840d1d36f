"""Arrays with known contents in a traced function.

A formula has no array literals. The following arrays become expressions: one number repeated, an integer progression
along one axis, triangles (`np.tri`) and diagonals (`np.eye`) of two values. So do short arrays of doubles that are
not exact in a smaller float: `0.1` in one means 1/10, as it does by itself, and a kernel's constant that is the
rounded number is taken for it. Every other array becomes an input whose contents are kept in `Traced.contents`.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import index, tensor as ops, value
from .formula import Builder, Tensor
from .index import Ix
from .value import Value

Array = np.ndarray[Any, Any]

#: Elements of the largest array written into a formula.
_TABLE = 64


def plain_number(element: Any) -> Any:
    """Returns a NumPy scalar as a Python number; floats by the shortest decimal of their own type."""
    if isinstance(element, np.floating):
        return float(str(element))
    return element.item() if isinstance(element, np.generic) else element


def known(b: Builder, array: Array, dtype: str, declare: Callable[[Array, str], Tensor]) -> Tensor:
    """Returns an array as a tensor. `declare` makes an input of an array that is no expression."""
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
        return _two_values(b, array, dtype, "<=", triangle, (-1, 0), (0, -1))
    diagonal = _diagonal(array)
    if diagonal is not None:
        k, outside = diagonal
        return _two_values(b, array, dtype, "==", k, (max(0, -k), max(0, k)), outside)
    if dtype == "f64" and array.size <= _TABLE and not np.array_equal(array.astype(np.float32), array):
        return _table(b, array, dtype)
    return declare(array, dtype)


def _table(b: Builder, array: Array, dtype: str) -> Tensor:
    """Returns an array as a choice between its elements."""
    numbers = [(place, ops.scalar(plain_number(array[place]), dtype).at([])) for place in np.ndindex(array.shape)]

    def element(at: Sequence[Ix]) -> Value:
        made = numbers[-1][1]
        for place, number in reversed(numbers[:-1]):
            holds = [value.compare("==", value.of_index(ix), value.of_index(index.number(n))) for ix, n in zip(at, place)]
            made = value.select(functools.reduce(value.both, holds), number, made)
        return made

    return b.tensor(array.shape, dtype, element, "constant")


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


def _matrix(array: Array) -> Optional[Array]:
    """Returns the matrix repeated along the first axes of an array, if there is one."""
    if array.ndim < 2:
        return None
    rows, columns = array.shape[-2:]
    matrix: Array = array.reshape(-1, rows, columns)[0]
    return matrix if np.array_equal(np.broadcast_to(matrix, array.shape), array) else None


def _triangle(array: Array) -> Optional[int]:
    """Returns `k` if the array has two values: one where `column <= row + k`, the other elsewhere."""
    matrix = _matrix(array)
    if matrix is None:
        return None
    rows, columns = matrix.shape
    corner = matrix == matrix[-1, 0]
    k = int(corner[0].sum()) - 1 if corner[0].any() else -int(np.argmax(corner[:, 0]))
    lower = np.tri(rows, columns, k, dtype=bool)
    other = matrix[~lower]
    if not np.array_equal(corner, lower) or other.size == 0 or not bool(np.all(other == other.flat[0])):
        return None
    return k


def _diagonal(array: Array) -> Optional[tuple[int, tuple[int, int]]]:
    """Returns `k` if the array has two values, one where `column == row + k`, and an index of the other."""
    matrix = _matrix(array)
    if matrix is None:
        return None
    rows, columns = matrix.shape
    for corner in ((-1, 0), (0, -1)):
        others = matrix != matrix[corner]
        place = np.argwhere(others)
        if place.size == 0:
            continue
        k = int(place[0][1] - place[0][0])
        values = matrix[others]
        if np.array_equal(others, np.eye(rows, columns, k, dtype=bool)) and bool(np.all(values == values[0])):
            return k, corner
    return None


def _two_values(
    b: Builder, array: Array, dtype: str, sign: str, k: int, inside: tuple[int, int], outside: tuple[int, int]
) -> Tensor:
    """Returns a matrix of two elements of itself: one where the column compares with row + k, the other elsewhere."""
    matrix = array[(0,) * (array.ndim - 2)]
    yes, no = (ops.scalar(plain_number(matrix[place]), dtype).at([]) for place in (inside, outside))

    def element(at: Sequence[Ix]) -> Value:
        holds = value.compare(sign, value.of_index(at[-1]), value.of_index(at[-2] + k))
        return value.select(holds, yes, no)

    return b.tensor(array.shape, dtype, element)
