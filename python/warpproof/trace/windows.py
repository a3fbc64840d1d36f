"""Convolutions and pools over one to three spatial axes.

Padding is an element access with `else`: zero for convolutions and average pools, -inf for max pools. Transposed
convolutions sum over the input positions that reach an output, `… if (h + p - d*r) % s == 0`. Shapes of results come
from torch's own shape inference; the formulas only have to be right inside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from . import index, value
from .errors import Untraceable
from .formula import Builder, Shape, Tensor, read
from .index import Ix
from .reduce import ranges, reduced
from .value import Value


def padded(t: Tensor, at: Sequence[Ix], outside: Value) -> Value:
    """Reads a tensor at indices that may lie outside it, where its value is `outside`."""
    if all(ix.within(0, extent) for ix, extent in zip(at, t.shape)):
        return t.at(at)
    if t.name is not None and t.kind != "bool":
        return read(t.name, t.kind, at, outside)
    inside = value.truth(True)
    for ix, extent in zip(at, t.shape):
        number = value.of_index(ix)
        inside = value.both(inside, value.compare(">=", number, value.constant(0)))
        inside = value.both(inside, value.compare("<", number, value.constant(extent)))
    if inside.truth is False:
        return outside
    return value.select(inside, t.at([ix.assume(0, e - 1) for ix, e in zip(at, t.shape)]), outside)


@dataclass(frozen=True)
class Window:
    """Kernel size, stride, padding and dilation, one number for each spatial axis."""

    size: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]

    @staticmethod
    def of(
        rank: int, size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
    ) -> "Window":
        """Repeats single numbers for all axes. An empty stride is the kernel size."""

        def wide(numbers: Sequence[int]) -> list[int]:
            return list(numbers) * rank if len(numbers) == 1 else list(numbers)

        return Window(wide(size), wide(stride or size), wide(padding or [0]), wide(dilation or [1]))

    def places(self, at: Sequence[Ix], inner: Sequence[Ix]) -> list[Ix]:
        """Returns the input positions at offsets `inner` in the windows of outputs `at`."""
        parts = zip(at, inner, self.stride, self.padding, self.dilation)
        return [ix * s + r * d - p for ix, r, s, p, d in parts]


def convolution(
    b: Builder,
    x: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    window: Window,
    groups: int,
    shape: Shape,
    transposed: bool,
) -> Tensor:
    """Returns a convolution of `[n, c, …]` by `[f, c/groups, …]`, or `[c, f/groups, …]` if transposed."""
    x, weight = (b.let(t, "operand") for t in (x, weight))
    spatial = len(shape) - 2
    if len(x.shape) != len(shape) or spatial < 1:
        raise Untraceable("a convolution without a batch axis")
    channels = x.shape[1] // groups
    features = shape[1] // groups
    element = _transposed if transposed else _direct
    zero = value.constant(0)

    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, [channels, *weight.shape[2:]])
        group = at[1] // features if groups > 1 else index.number(0)
        channel = group * channels + inner[0]
        product, only = element(x, weight, window, at, channel, features, inner, zero)
        total = _sum_if(text, product, only)
        return value.add(total, bias.at([at[1]])) if bias is not None else total

    return b.reduction("convolution", shape, x.dtype, body)


def _direct(
    x: Tensor, weight: Tensor, window: Window, at: list[Ix], channel: Ix, _: int, inner: list[Ix], zero: Value
) -> tuple[Value, Value]:
    source = padded(x, [at[0], channel, *window.places(at[2:], inner[1:])], zero)
    return value.multiply(source, weight.at([at[1], *inner])), value.truth(True)


def _transposed(
    x: Tensor, weight: Tensor, window: Window, at: list[Ix], channel: Ix, features: int, inner: list[Ix], zero: Value
) -> tuple[Value, Value]:
    only = value.truth(True)
    places = []
    parts = zip(at[2:], inner[1:], window.stride, window.padding, window.dilation)
    for ix, r, stride, padding, dilation in parts:
        reach = ix + padding - r * dilation
        meets = value.compare("==", value.of_index(reach % stride), value.constant(0))
        only = value.both(only, meets)
        places.append(reach // stride)
    source = padded(x, [at[0], channel, *places], zero)
    return value.multiply(source, weight.at([channel, at[1] % features, *inner[1:]])), only


def _sum_if(over: str, body: Value, only: Value) -> Value:
    if only.truth is True:
        return reduced("sum", over, body, "real")
    if not over:
        return value.select(only, body, value.constant(0))
    text = f"sum({over}, {body.at(value.OR)} if {only.at(value.OR)})"
    return Value(text, value.PRIMARY, "real", body.cost + 20, finite=body.finite)


def max_pool(b: Builder, x: Tensor, window: Window, shape: Shape) -> Tensor:
    """Returns the largest element of each window. Positions outside the input do not count."""
    x = b.let(x, "operand")
    lead = len(shape) - len(window.size)
    outside = value.constant(float("-inf"))

    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, window.size)
        source = padded(x, [*at[:lead], *window.places(at[lead:], inner)], outside)
        return reduced("max", text, source, "real")

    return b.reduction("max_pool", shape, x.dtype, body)


def average_pool(
    b: Builder, x: Tensor, window: Window, shape: Shape, include_padding: bool, divisor: Optional[int]
) -> Tensor:
    """Returns the mean of each window. The count includes the padding, excludes it, or is given."""
    x = b.let(x, "operand")
    lead = len(shape) - len(window.size)

    def body(at: list[Ix]) -> Value:
        inner, text = ranges(b, window.size)
        source = padded(x, [*at[:lead], *window.places(at[lead:], inner)], value.constant(0))
        total = reduced("sum", text, source, "real")
        if divisor is not None:
            return value.divide(total, value.constant(divisor))
        return value.divide(total, _window_count(x.shape[lead:], at[lead:], window, include_padding))

    return b.reduction("average_pool", shape, x.dtype, body)


def _window_count(extents: Shape, at: Sequence[Ix], window: Window, include_padding: bool) -> Value:
    total = value.constant(1)
    for extent, ix, size, stride, padding in zip(extents, at, window.size, window.stride, window.padding):
        start = ix * stride - padding
        end = _at_most(start + size, extent + (padding if include_padding else 0))
        first = value.of_index(start) if include_padding else _at_least(start, 0)
        total = value.multiply(total, value.subtract(end, first))
    return total


def _at_most(ix: Ix, limit: int) -> Value:
    if ix.hi is not None and ix.hi <= limit:
        return value.of_index(ix)
    return value.extremum("min", value.of_index(ix), value.constant(limit))


def _at_least(ix: Ix, limit: int) -> Value:
    if ix.lo is not None and ix.lo >= limit:
        return value.of_index(ix)
    return value.extremum("max", value.of_index(ix), value.constant(limit))


def adaptive_average_pool(b: Builder, x: Tensor, shape: Shape, spatial: int) -> Tensor:
    """Returns means over windows `floor(h*H/n) .. ceil((h+1)*H/n)`."""
    x = b.let(x, "operand")
    lead = len(shape) - spatial

    def body(at: list[Ix]) -> Value:
        places, texts = [], []
        for ix, extent, n in zip(at[lead:], x.shape[lead:], shape[lead:]):
            start, end = (ix * extent) // n, (ix * extent + extent + n - 1) // n
            k = b.index(0, extent)
            texts.append(f"{index.show(k)} in {index.show(start)}..{index.show(end)}")
            places.append(k)
        return reduced("mean", ", ".join(texts), x.at([*at[:lead], *places]), "real")

    return b.reduction("average_pool", shape, x.dtype, body)
