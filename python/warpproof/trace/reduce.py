"""Reductions, scans, products of matrices and normalisations.

A reduction becomes a `let` at once, so that a sum used by many elements is written and computed once. Sums over an
empty axis are 0, products 1; maxima and means over an empty axis are refused. Softmax is written without subtracting
the maximum: over the reals that changes nothing.
"""

from __future__ import annotations

from typing import Optional, Sequence, Union

from . import index, tensor as ops, value
from .errors import Untraceable
from .formula import Builder, Shape, Tensor, count, kind_of
from .index import Ix
from .value import Value

_EMPTY: dict[str, Union[int, bool]] = {"sum": 0, "prod": 1, "any": False, "all": True}


def ranges(b: Builder, extents: Sequence[int]) -> tuple[list[Ix], str]:
    """Returns indices of a reduction and their text. An axis of extent 1 needs none."""
    indices = [index.number(0) if e == 1 else b.index(0, e) for e in extents]
    text = ", ".join(f"{index.show(ix)} in 0..{e}" for ix, e in zip(indices, extents) if e != 1)
    return indices, text


def reduced(operation: str, over: str, body: Value, kind: str) -> Value:
    """Writes a reduction. Without indices it is just its body."""
    if operation in ("any", "all"):
        body, kind = value.condition(body), "bool"
    else:
        body = value.real(body)
    if not over:
        return body
    if body.truth is not None:
        return body
    return Value(f"{operation}({over}, {body.text})", value.PRIMARY, kind, body.cost + 20, finite=body.finite)


def reduce(
    b: Builder,
    operation: str,
    t: Tensor,
    axes: Union[None, int, Sequence[int]],
    keep: bool,
    dtype: str,
    hint: Optional[str] = None,
) -> Tensor:
    """Reduces axes by `sum`, `prod`, `max`, `min`, `mean`, `any` or `all`."""
    gone = ops.axes_of(axes, len(t.shape))
    shape = tuple(e for a, e in enumerate(t.shape) if a not in gone)
    if count(t.shape[a] for a in gone) == 0:
        if operation not in _EMPTY:
            raise Untraceable(f"{operation} over an empty axis")
        result = ops.full(shape, _EMPTY[operation], dtype)
    else:
        closed = operation in ("max", "min") or dtype == "u64" and t.dtype[0] == "u"  # 2^64 is refused by the program
        result = b.reduction(hint or operation, shape, dtype, _body(b, operation, t, gone, dtype), closed)
    return _kept(result, t.shape, gone) if keep else result


def _body(b: Builder, operation: str, t: Tensor, gone: list[int], dtype: str):  # type: ignore[no-untyped-def]
    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, [t.shape[a] for a in gone])
        return reduced(operation, text, t.at(_mixed(len(t.shape), gone, inner, at)), kind_of(dtype))

    return body


def _mixed(rank: int, gone: list[int], inner: Sequence[Ix], outer: Sequence[Ix]) -> list[Ix]:
    inside, outside = iter(inner), iter(outer)
    return [next(inside) if a in gone else next(outside) for a in range(rank)]


def _kept(result: Tensor, shape: Shape, gone: list[int]) -> Tensor:
    for axis in range(len(shape)):
        if axis in gone:
            result = ops.unsqueeze(result, axis)
    return result


def arg(b: Builder, operation: str, t: Tensor, axis: Optional[int], keep: bool, dtype: str) -> Tensor:
    """Returns the position of the first maximum (`argmax`) or minimum, among all elements if no axis is given."""
    shape = t.shape
    if axis is None:
        t, axis = ops.reshape(t, [count(shape)]), 0
        keep_shape: Sequence[int] = [1] * len(shape) if keep else []
    else:
        axis = ops.axis_of(axis, len(shape))
        keep_shape = [1 if keep and a == axis else e for a, e in enumerate(shape) if keep or a != axis]
    if not t.shape:
        return ops.full((), 0, dtype)
    if t.shape[axis] == 0:
        raise Untraceable(f"{operation} over an empty axis")
    if t.shape[axis] == 1:
        return ops.full(keep_shape, 0, dtype)
    kept = t

    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, [kept.shape[axis]])
        return reduced(operation, text, kept.at([*at[:axis], *inner, *at[axis:]]), "int")

    found = b.reduction(operation, tuple(e for a, e in enumerate(t.shape) if a != axis), dtype, body, True)
    return ops.reshape(found, keep_shape)


def scan(b: Builder, operation: str, t: Tensor, axis: int, dtype: str, hint: str) -> Tensor:
    """Reduces all elements up to each position: cumulative `sum`, `prod`, `max` or `min`."""
    if not t.shape:
        return ops.cast(b, t, dtype)
    axis = ops.axis_of(axis, len(t.shape))
    source = b.let(t, "values") if t.cost > 1 else t

    def body(at: list[Ix]) -> Value:
        k = b.index(0, t.shape[axis])
        text = f"{index.show(k)} in 0..{index.show(at[axis] + 1)}"
        return reduced(operation, text, source.at([*at[:axis], k, *at[axis + 1 :]]), kind_of(dtype))

    return b.reduction(hint, t.shape, dtype, body, operation in ("max", "min"))


def contract(
    b: Builder, tensors: Sequence[Tensor], labels: Sequence[str], result: str, dtype: str, hint: str = "product"
) -> Tensor:
    """Sums products over the labels missing from the result, as `einsum`, in pairs from the left."""
    if len(tensors) > 2:
        rest = "".join(labels[2:]) + result
        between = "".join(dict.fromkeys(c for c in labels[0] + labels[1] if c in rest))
        first = contract(b, tensors[:2], labels[:2], between, dtype, hint)
        return contract(b, [first, *tensors[2:]], [between, *labels[2:]], result, dtype, hint)
    extents: dict[str, int] = {}
    for t, names in zip(tensors, labels):
        for name, extent in zip(names, t.shape):
            if extents.setdefault(name, extent) != extent and 1 not in (extent, extents[name]):
                raise Untraceable(f"einsum: `{name}` runs over {extents[name]} and {extent}")
            extents[name] = max(extents[name], extent) if extent else 0
    summed = [name for name in dict.fromkeys("".join(labels)) if name not in result]
    shape = tuple(extents[name] for name in result)
    if any(extents[name] == 0 for name in summed):
        return ops.full(shape, 0, dtype)
    inputs = [b.let(t, "operand") if t.cost > 1 and summed else t for t in tensors]

    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, [extents[name] for name in summed])
        where = dict(zip(result, at))
        where.update(zip(summed, inner))
        product = value.constant(1)
        for t, names in zip(inputs, labels):
            place = [index.number(0) if e == 1 else where[c] for c, e in zip(names, t.shape)]
            product = value.multiply(product, t.at(place))
        return reduced("sum", text, product, kind_of(dtype))

    return b.reduction(hint, shape, dtype, body)


def matmul(b: Builder, x: Tensor, y: Tensor, dtype: str, hint: str = "product") -> Tensor:
    """Multiplies matrices. Leading axes broadcast, and vectors are treated as in NumPy and torch."""
    if not x.shape or not y.shape:
        raise Untraceable("a product of matrices with a scalar", "use `*`")
    row, column = len(x.shape) == 1, len(y.shape) == 1
    x = ops.unsqueeze(x, 0) if row else x
    y = ops.unsqueeze(y, 1) if column else y
    if x.shape[-1] != y.shape[-2]:
        raise Untraceable(f"shapes {x.shape} and {y.shape} do not multiply")
    batch = ops.broadcast_shape(x.shape[:-2], y.shape[:-2])
    names = "ABCDEFGH"[: len(batch)]
    x = ops.expand(x, (*batch, *x.shape[-2:]))
    y = ops.expand(y, (*batch, *y.shape[-2:]))
    result = contract(b, [x, y], [names + "ik", names + "kj"], names + "ij", dtype, hint)
    dropped = [a for a, gone in ((-2, row), (-1, column)) if gone]
    return ops.squeeze(result, dropped) if dropped else result


def softmax(b: Builder, t: Tensor, axis: int, dtype: str, log: bool = False) -> Tensor:
    """Returns `exp(x) / sum(exp(x))` along an axis, or its logarithm."""
    t = b.let(t, "scores") if t.cost > 3 else t
    powers = ops.elementwise(b, dtype, lambda v: value.call("exp", v), t)
    total = reduce(b, "sum", powers, [axis], True, dtype, "total")
    if log:
        return ops.elementwise(b, dtype, lambda v, s: value.subtract(v, value.call("log", s)), t, total)
    return ops.elementwise(b, dtype, value.divide, powers, total)


def variance(
    b: Builder, t: Tensor, axes: Union[None, int, Sequence[int]], keep: bool, dtype: str, correction: float = 0
) -> tuple[Tensor, Tensor]:
    """Returns mean and variance. The sum of squares is divided by the count minus `correction`."""
    t = b.let(t, "values") if t.cost > 3 else t
    gone = ops.axes_of(axes, len(t.shape))
    n = count(t.shape[a] for a in gone)
    if n - correction <= 0:
        raise Untraceable(f"variance of {n} values with correction {correction}")
    mean = reduce(b, "mean", t, gone, True, dtype)
    square = ops.elementwise(b, dtype, lambda v, m: value.power(value.subtract(v, m), value.constant(2)), t, mean)
    operation = "sum" if correction else "mean"
    spread = reduce(b, operation, square, gone, True, dtype, "variance")
    if correction:
        divisor = value.constant(int(n - correction) if correction == int(correction) else float(n - correction))
        spread = ops.elementwise(b, dtype, lambda v: value.divide(v, divisor), spread)
    if keep:
        return mean, spread
    return ops.squeeze(mean, gone), ops.squeeze(spread, gone)


def normalise(
    b: Builder,
    t: Tensor,
    mean: Tensor,
    spread: Tensor,
    eps: float,
    weight: Optional[Tensor],
    bias: Optional[Tensor],
    dtype: str,
) -> Tensor:
    """Returns `(x - mean) * rsqrt(variance + eps) * weight + bias`, where all operands broadcast."""
    small = value.constant(eps)

    def element(*parts: Value) -> Value:
        rest = list(parts[3:])
        result = value.subtract(parts[0], parts[1])
        result = value.multiply(result, value.call("rsqrt", value.add(parts[2], small)))
        if weight is not None:
            result = value.multiply(result, rest.pop(0))
        return value.add(result, rest.pop(0)) if bias is not None else result

    extra = [p for p in (weight, bias) if p is not None]
    return ops.elementwise(b, dtype, element, t, mean, spread, *extra)
