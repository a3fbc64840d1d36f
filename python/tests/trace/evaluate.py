"""Evaluates formulas on NumPy arrays in float64, for tests only.

It is strict. All of these are mistakes: indices that shadow, elements outside without `else`, ranges that disagree or
are unknown, and `if` without `else` outside a reduction. The side of an `if` that is not taken is not evaluated.
Every index in scope is one axis of the computed arrays, in the order of nesting.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from grammar import CONSTANTS, FUNCTIONS, KEYWORDS, REDUCTIONS, Definition, Index, Mistake, Node, parse

Array = np.ndarray[Any, Any]
CAP = 4_000_000

_erf = np.vectorize(math.erf, otypes=[float])
_CALLS = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "log1p": np.log1p, "expm1": np.expm1,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "abs": np.abs, "sign": np.sign, "tanh": np.tanh,
    "erf": _erf, "sin": np.sin, "cos": np.cos,
    "sigmoid": lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "relu": lambda x: np.maximum(x, 0), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round,
    "max": np.maximum, "min": np.minimum, "clamp": lambda x, a, b: np.minimum(np.maximum(x, a), b),
    "f32": lambda x: x.astype(np.float32).astype(float),
}  # fmt: skip
_INTEGRAL = frozenset("abs sign relu max min clamp floor ceil trunc round".split())
_NUMBERS = {"pi": math.pi, "inf": math.inf, "log2e": math.log2(math.e), "ln2": math.log(2)}


def evaluate(
    text: str, inputs: Mapping[str, Any], shapes: Optional[Mapping[str, Sequence[int]]] = None
) -> dict[str, Array]:
    """Returns the outputs of a formula. `shapes` declares their extents where the formula does not show them."""
    tensors = {name: _stored(array) for name, array in inputs.items()}
    outputs = {}
    for definition in parse(text):
        if definition.name in tensors or definition.name in KEYWORDS | CONSTANTS | FUNCTIONS | REDUCTIONS:
            raise Mistake(f"`{definition.name}` is defined already")
        declared = None if definition.let else (shapes or {}).get(definition.name)
        tensors[definition.name] = _define(definition, tensors, declared)
        if not definition.let:
            outputs[definition.name] = tensors[definition.name]
    missing = set(shapes or {}) - set(outputs)
    if missing:
        raise Mistake(f"nothing defines the output `{missing.pop()}`")
    return outputs


def _stored(array: Any) -> Array:
    array = np.asarray(array)
    return array.astype(np.int64) if array.dtype.kind in "biu" else array.astype(np.float64)


def _define(definition: Definition, tensors: dict[str, Array], declared: Optional[Sequence[int]]) -> Array:
    if declared is not None and len(declared) != len(definition.indices):
        raise Mistake(f"`{definition.name}` has {len(declared)} dimensions, not {len(definition.indices)}")
    names = [i.name for i in definition.indices]
    ranges = []
    for axis, i in enumerate(definition.indices):
        if i.name in tensors or names.count(i.name) > 1:
            raise Mistake(f"`{i.name}` is an index already")
        extent = declared[axis] if declared is not None else None
        ranges.append(_fixed_range(i, definition.body, tensors, extent))
    parts = []
    for part in _chunks(ranges, definition, tensors):
        scope = _Scope(tensors, list(zip(names, part)))
        result = scope.number(definition.body, _true(len(names)))
        shape = tuple(hi - lo for lo, hi in part)
        parts.append((part, np.broadcast_to(result.reshape(result.shape[: len(names)] or ()), shape)))
    whole = np.zeros([hi for _, hi in ranges], dtype=_common([p.dtype for _, p in parts]))
    for part, values in parts:
        whole[tuple(slice(lo, hi) for lo, hi in part)] = values
    return whole


def _common(types: list[Any]) -> Any:
    return np.result_type(*types) if types else np.float64


def _fixed_range(i: Index, body: Node, tensors: dict[str, Array], extent: Optional[int]) -> tuple[int, int]:
    if i.lo is not None and i.hi is not None:
        scope = _Scope(tensors, [])
        lo, hi = (int(scope.integer(e, _true(0)).item()) for e in (i.lo, i.hi))
        if extent is not None and (lo, hi) != (0, extent):
            raise Mistake(f"`{i.name}` runs over {lo}..{hi}, the output has {extent}")
        if lo != 0:
            raise Mistake(f"`{i.name}` of a definition must begin at 0")
        return lo, hi
    found = set(_alone(i.name, body, tensors))
    if extent is not None:
        return 0, extent
    return 0, _one_extent(i.name, found)


def _one_extent(name: str, found: set[int]) -> int:
    if not found:
        raise Mistake(f"the range of `{name}` is not known")
    if len(found) > 1:
        raise Mistake(f"`{name}` runs over {' and over '.join(map(str, sorted(found)))}")
    return found.pop()


def _alone(name: str, node: Any, tensors: dict[str, Array]) -> Iterator[int]:
    """Yields the extents of axes at which an index stands alone."""
    if isinstance(node, (tuple, list)):
        if isinstance(node, tuple) and node and node[0] == "element" and node[1] in tensors:
            for axis, place in enumerate(node[2]):
                if place == ("name", name) and axis < tensors[node[1]].ndim:
                    yield tensors[node[1]].shape[axis]
        for part in node:
            yield from _alone(name, part, tensors)


def _chunks(
    ranges: list[tuple[int, int]], definition: Definition, tensors: dict[str, Array]
) -> Iterator[list[tuple[int, int]]]:
    """Splits a definition so that intermediate arrays stay small."""
    sizes = {i.name: hi - lo for i, (lo, hi) in zip(definition.indices, ranges)}
    widest = max(ranges, key=lambda r: r[1] - r[0], default=(0, 0))
    if _largest(definition.body, sizes, tensors) <= CAP or widest[1] - widest[0] < 2:
        yield ranges
        return
    axis = ranges.index(widest)
    middle = sum(widest) // 2
    for part in ((widest[0], middle), (middle, widest[1])):
        yield from _chunks([*ranges[:axis], part, *ranges[axis + 1 :]], definition, tensors)


def _largest(node: Any, sizes: dict[str, int], tensors: dict[str, Array]) -> int:
    """Estimates the elements of the largest intermediate array."""
    if not isinstance(node, (tuple, list)):
        return 0
    if isinstance(node, tuple) and node and node[0] == "reduce":
        inner = dict(sizes)
        for i in node[2]:
            inner[i.name] = _extent_bound(i, node[3], tensors, inner)
        parts = _factors(node[3]) if node[1] == "sum" else [node[3]]
        own = [math.prod(inner.get(n, 1) for n in _free(p)) for p in parts]
        return max([*own, *(_largest(p, inner, tensors) for p in parts)])
    below = [_largest(part, sizes, tensors) for part in node]
    own_size = math.prod(sizes.get(n, 1) for n in _free(node))
    return max([own_size, *below])


def _extent_bound(i: Index, body: Node, tensors: dict[str, Array], sizes: dict[str, int]) -> int:
    if i.hi is None:
        return max(_alone(i.name, body, tensors), default=1)
    if i.hi[0] == "number":
        return int(i.hi[1])
    return max([*_alone(i.name, body, tensors), *(sizes.get(n, 1) for n in _free(i.hi))])


def _free(node: Any) -> set[str]:
    if isinstance(node, tuple) and len(node) == 2 and node[0] == "name":
        return {node[1]}
    if isinstance(node, (tuple, list)):
        return set().union(*(_free(part) for part in node)) if node else set()
    return set()


def _factors(node: Node) -> list[Node]:
    return [*_factors(node[1]), *_factors(node[2])] if node[0] == "*" else [node]


def _true(depth: int) -> Array:
    return np.ones((1,) * depth, dtype=bool)


class _Scope:
    """Indices in scope with their ranges; array axis n belongs to index n."""

    def __init__(self, tensors: dict[str, Array], indices: list[tuple[str, tuple[int, int]]]):
        self.tensors, self.indices = tensors, indices
        self.depth = len(indices)
        self.values: dict[str, Array] = {}
        for axis, (name, (lo, hi)) in enumerate(indices):
            shape = [1] * self.depth
            shape[axis] = hi - lo
            self.values[name] = np.arange(lo, hi).reshape(shape)

    def deeper(self, more: list[tuple[str, tuple[int, int]]]) -> "_Scope":
        return _Scope(self.tensors, self.indices + more)

    def integer(self, node: Node, mask: Array) -> Array:
        result = self.number(node, mask)
        if result.dtype.kind != "i":
            raise Mistake("an index must be an integer")
        return result

    def truth(self, node: Node, mask: Array) -> Array:
        result = self.value(node, mask)
        if result.dtype != bool:
            raise Mistake("a condition is expected")
        return result

    def number(self, node: Node, mask: Array) -> Array:
        result = self.value(node, mask)
        if result.dtype == bool:
            raise Mistake("a number is expected, not a condition")
        return result

    def value(self, node: Node, mask: Array) -> Array:
        return getattr(self, "on_" + _METHODS.get(node[0], node[0]))(node, mask)  # type: ignore[no-any-return]

    def scalar(self, number: Any) -> Array:
        return np.asarray(number).reshape((1,) * self.depth)

    def on_number(self, node: Node, mask: Array) -> Array:
        return self.scalar(node[1])

    def on_constant(self, node: Node, mask: Array) -> Array:
        return self.scalar(_NUMBERS[node[1]])

    def on_name(self, node: Node, mask: Array) -> Array:
        name = node[1]
        if name in self.values:
            return self.values[name]
        if name not in self.tensors:
            raise Mistake(f"`{name}` is not an input and not defined above")
        if self.tensors[name].ndim:
            raise Mistake(f"`{name}` is a tensor: give its {self.tensors[name].ndim} indices")
        return self.scalar(self.tensors[name])

    def on_element(self, node: Node, mask: Array) -> Array:
        _, name, places, otherwise = node
        if name not in self.tensors:
            raise Mistake(f"`{name}` is not an input and not defined above")
        tensor = self.tensors[name]
        if tensor.ndim != len(places):
            raise Mistake(f"`{name}` is a tensor: give its {tensor.ndim} indices")
        at = [self.integer(p, mask) for p in places]
        inside = [(ix >= 0) & (ix < n) for ix, n in zip(at, tensor.shape)]
        within = _all(inside, self.depth)
        if otherwise is None:
            for one in inside:
                if not one.all() and (mask & ~one).any():
                    raise Mistake(f"an element of `{name}` is outside ({list(tensor.shape)})")
        if 0 in tensor.shape:
            result = np.zeros((1,) * self.depth)
        else:
            result = tensor[tuple(np.clip(ix, 0, n - 1) for ix, n in zip(at, tensor.shape))]
        if otherwise is None or within.all():
            return result
        return np.where(within, result, self.number(otherwise, mask & ~within))

    def on_if(self, node: Node, mask: Array) -> Array:
        _, condition, yes, no = node
        if no is None:
            raise Mistake("`if` without `else` belongs in a reduction")
        choice = self.truth(condition, mask)
        if not (mask & ~choice).any():
            return self.number(yes, mask & choice)
        if not (mask & choice).any():
            return self.number(no, mask & ~choice)
        return np.where(choice, self.number(yes, mask & choice), self.number(no, mask & ~choice))

    def on_chain(self, node: Node, mask: Array) -> Array:
        tests = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        tests.update({"==": np.equal, "!=": np.not_equal})
        return _all([tests[o](self.number(a, mask), self.number(b, mask)) for o, a, b in node[1]], self.depth)

    def on_logic(self, node: Node, mask: Array) -> Array:
        left, right = self.truth(node[1], mask), self.truth(node[2], mask)
        return left & right if node[0] == "and" else left | right

    def on_not(self, node: Node, mask: Array) -> Array:
        return ~self.truth(node[1], mask)

    def on_neg(self, node: Node, mask: Array) -> Array:
        return -self.number(node[1], mask)

    def on_binary(self, node: Node, mask: Array) -> Array:
        a, b = self.number(node[1], mask), self.number(node[2], mask)
        with np.errstate(all="ignore"):
            if node[0] in ("//", "%"):
                if a.dtype.kind != "i" or b.dtype.kind != "i":
                    raise Mistake(f"`{node[0]}` is for integers")
                return a // b if node[0] == "//" else a % b
            if node[0] == "^":
                return np.power(a if (b >= 0).all() else a.astype(float), b)
            table = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide}
            return np.asarray(table[node[0]](a, b))

    def on_call(self, node: Node, mask: Array) -> Array:
        arguments = [self.number(a, mask) for a in node[2]]
        with np.errstate(all="ignore"):
            integral = node[1] in _INTEGRAL and all(a.dtype.kind == "i" for a in arguments)
            result = np.asarray(_CALLS[node[1]](*arguments))
            if node[1] in ("floor", "ceil", "trunc", "round") and np.isfinite(result).all():
                return result.astype(np.int64)
            return result.astype(np.int64) if integral else result.astype(np.float64)

    def on_reduce(self, node: Node, mask: Array) -> Array:
        _, operation, indices, body = node
        known = [i.name for i in indices if i.name in self.values or i.name in self.tensors]
        if known:
            if len(indices) == 1 and indices[0].lo is None and operation in ("max", "min"):
                return self.on_call(("call", operation, [("name", indices[0].name), body]), mask)
            raise Mistake(f"`{known[0]}` is an index already; take another name in `{operation}`")
        ranges, scope, active = self.reduction_scope(indices, body, mask)
        axes = tuple(range(self.depth, scope.depth))
        if operation == "sum" and active is None and body[0] == "*":
            return _dot([scope.number(f, _wider(mask, len(indices))) for f in _factors(body)], self.depth, ranges)
        inner = _wider(mask, len(indices)) if active is None else _wider(mask, len(indices)) & active
        if body[0] == "if" and body[3] is None:
            chosen = scope.truth(body[1], inner)
            inner, body = inner & chosen, body[2]
            active = chosen if active is None else active & chosen
        kind = scope.truth if operation in ("any", "all", "count") else scope.number
        values = kind(body, inner)
        shape = values.shape[: self.depth] + tuple(hi - lo for lo, hi in ranges)
        if active is not None:
            shape = np.broadcast_shapes(shape, active.shape)
        on = np.ones(shape, dtype=bool) if active is None else np.broadcast_to(active, shape)
        return _reduce(operation, np.broadcast_to(values, shape), on, axes, mask, ranges[0][0])

    def reduction_scope(
        self, indices: list[Index], body: Node, mask: Array
    ) -> tuple[list[tuple[int, int]], "_Scope", Optional[Array]]:
        scope, ranges, limits = self, [], []
        for i in indices:
            if i.name in scope.values:
                raise Mistake(f"`{i.name}` is an index already")
            if i.lo is None or i.hi is None:
                lo, hi = 0, _one_extent(i.name, set(_alone(i.name, body, self.tensors)))
            else:
                low, high = scope.integer(i.lo, _true(scope.depth)), scope.integer(i.hi, _true(scope.depth))
                lo, hi = int(low.min()), max(int(high.max()), int(low.min()))
                if low.size > 1 or high.size > 1:
                    limits.append((i.name, low, high))
            ranges.append((lo, hi))
            scope = scope.deeper([(i.name, (lo, hi))])
        active: Optional[Array] = None
        for name, low, high in limits:
            more = scope.depth - low.ndim
            one = (scope.values[name] >= _wider(low, more)) & (scope.values[name] < _wider(high, more))
            active = one if active is None else active & one
        return ranges, scope, active


_METHODS = {"and": "logic", "or": "logic", **dict.fromkeys(("+", "-", "*", "/", "//", "%", "^"), "binary")}


def _wider(array: Array, more: int) -> Array:
    return array.reshape(array.shape + (1,) * more)


def _all(conditions: list[Array], depth: int) -> Array:
    result = _true(depth)
    for one in conditions:
        result = result & one
    return result


def _reduce(operation: str, values: Array, on: Array, axes: tuple[int, ...], mask: Array, first: int) -> Array:
    some = on.any(axis=axes)
    if operation in ("max", "min", "mean", "argmax", "argmin") and (mask & ~some).any():
        raise Mistake(f"`{operation}` of nothing")
    if operation in ("any", "all"):
        return (values & on).any(axis=axes) if operation == "any" else (values | ~on).all(axis=axes)
    if operation == "count":
        return (values & on).sum(axis=axes)
    if operation == "sum":
        return np.where(on, values, 0).sum(axis=axes)
    if operation == "prod":
        return np.where(on, values, 1).prod(axis=axes)
    if operation == "mean":
        return np.where(on, values, 0).sum(axis=axes) / np.maximum(on.sum(axis=axes), 1)
    low = operation in ("min", "argmin")
    filled = np.where(on, values, (math.inf if low else -math.inf) if not on.all() else 0)
    if operation in ("max", "min"):
        return filled.min(axis=axes) if low else filled.max(axis=axes)
    if len(axes) != 1:
        raise Mistake(f"`{operation}` takes one index")
    return (filled.argmin(axis=axes[0]) if low else filled.argmax(axis=axes[0])) + first


def _dot(factors: list[Array], depth: int, ranges: list[tuple[int, int]]) -> Array:
    """Sums products over the last axes. Axes that occur on only one side stay out of the product."""
    full = depth + len(ranges)
    missing = math.prod(hi - lo for axis, (lo, hi) in enumerate(ranges) if all(f.shape[depth + axis] == 1 for f in factors))
    parts = []
    for factor in factors:
        kept = [a for a in range(full) if factor.shape[a] != 1]
        parts.append((factor.reshape([factor.shape[a] for a in kept]), kept))
    shape = [max(f.shape[a] for f in factors) if min(f.shape[a] for f in factors) else 0 for a in range(depth)]
    left = [a for a in range(depth) if shape[a] != 1]
    operands: list[Any] = [x for pair in parts for x in pair]
    return np.asarray(np.einsum(*operands, left, optimize=True)).reshape(shape) * missing
