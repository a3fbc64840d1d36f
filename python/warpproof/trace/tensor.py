"""Views, elementwise operations and products of tensors, common to the NumPy and the torch front end.

All of them are exact over the reals and follow NumPy's rules of broadcasting. Casts between floating-point types are
the identity, a cast to an integer truncates, and integers wrap around (see `wrapping`).
"""

from __future__ import annotations

from typing import Callable, Optional, Sequence, Union

from . import index, value, wrapping
from .errors import Untraceable
from .formula import Builder, Shape, Tensor, count, kind_of
from .index import Ix
from .value import Value

Scalar = Union[int, float, bool]


def axis_of(axis: int, rank: int) -> int:
    """Returns an axis counted from the front."""
    if not -max(rank, 1) <= axis < max(rank, 1):
        raise Untraceable(f"axis {axis} of {rank}")
    return axis % max(rank, 1)


def axes_of(axes: Union[None, int, Sequence[int]], rank: int) -> list[int]:
    """Returns axes in order. `None` or an empty list means all."""
    if axes is None or (not isinstance(axes, int) and len(axes) == 0):
        return list(range(rank))
    if isinstance(axes, int):
        axes = [axes]
    return sorted({axis_of(a, rank) for a in axes}) if rank else []


def scalar(number: Scalar, dtype: str) -> Tensor:
    """Returns a constant tensor without axes."""
    return full((), number, dtype)


def full(shape: Sequence[int], number: Scalar, dtype: str) -> Tensor:
    """Returns a tensor of one constant."""
    if kind_of(dtype) == "bool":
        number = bool(number)
    elif kind_of(dtype) == "int":
        number = wrapping.low_bits(int(number), dtype)
    else:
        number = float(number) if not isinstance(number, int) or isinstance(number, bool) else number
    constant = value.constant(number)
    return Tensor(tuple(shape), dtype, lambda _: constant, 0)


def arange(n: int, start: int, step: int, dtype: str) -> Tensor:
    """Returns `start, start + step, …`."""
    inside = all(wrapping.fits(value.constant(one), dtype) for one in (start, start + step * max(n - 1, 0)))
    loose = kind_of(dtype) == "int" and not inside
    return Tensor((n,), dtype, lambda at: value.of_index(at[0] * step + start), 1, loose=loose)


def view(tensor: Tensor, shape: Sequence[int], back: Callable[[Sequence[Ix]], list[Ix]]) -> Tensor:
    """Returns a view: `back` maps indices of the view to indices of the tensor."""
    return Tensor(tuple(shape), tensor.dtype, lambda at: tensor.element(back(at)), tensor.cost, loose=tensor.loose)


def broadcast_shape(*shapes: Shape) -> Shape:
    """Returns the common shape of tensors that broadcast."""
    rank = max((len(s) for s in shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        extents = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(extents) > 1:
            raise Untraceable(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        result.append(extents.pop() if extents else 1)
    return tuple(result)


def expand(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns the tensor broadcast to a shape."""
    if tensor.shape == tuple(shape):
        return tensor
    own = tensor.shape
    zero = index.number(0)

    def back(at: Sequence[Ix]) -> list[Ix]:
        last = at[len(at) - len(own) :]
        return [zero if extent == 1 else ix for ix, extent in zip(last, own)]

    return view(tensor, shape, back)


def permute(tensor: Tensor, order: Sequence[int]) -> Tensor:
    """Returns the tensor with its axes in another order."""
    rank = len(tensor.shape)
    order = [axis_of(a, rank) for a in order]

    def back(at: Sequence[Ix]) -> list[Ix]:
        result = [at[0]] * rank
        for new, old in enumerate(order):
            result[old] = at[new]
        return result

    if order == list(range(rank)):
        return tensor
    return view(tensor, [tensor.shape[a] for a in order], back)


def reshape(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns the tensor in another shape, row-major; one extent may be -1."""
    shape = list(shape)
    if -1 in shape:
        rest = count(e for e in shape if e != -1)
        shape[shape.index(-1)] = count(tensor.shape) // rest if rest else 0
    if count(shape) != count(tensor.shape):
        raise Untraceable(f"shape {tensor.shape} does not reshape to {tuple(shape)}")
    if tuple(shape) == tensor.shape:
        return tensor
    own = tensor.shape

    def back(at: Sequence[Ix]) -> list[Ix]:
        flat = index.number(0)
        for ix, extent in zip(at, shape):
            flat = flat * extent + ix
        result: list[Ix] = []
        for extent in reversed(own):
            result.append(flat % extent if extent else flat)
            flat = flat // extent if extent else flat
        return result[::-1]

    return view(tensor, shape, back)


def squeeze(tensor: Tensor, axes: Optional[Sequence[int]] = None) -> Tensor:
    """Drops axes of extent 1. Other axes among those given stay."""
    rank = len(tensor.shape)
    chosen = range(rank) if axes is None else [axis_of(a, rank) for a in axes]
    dropped = {a for a in chosen if rank and tensor.shape[a] == 1}
    kept = [a for a in range(rank) if a not in dropped]

    def back(at: Sequence[Ix]) -> list[Ix]:
        result = [index.number(0)] * rank
        for ix, axis in zip(at, kept):
            result[axis] = ix
        return result

    return view(tensor, [tensor.shape[a] for a in kept], back)


def unsqueeze(tensor: Tensor, axis: int) -> Tensor:
    """Inserts an axis of extent 1."""
    axis = axis_of(axis, len(tensor.shape) + 1)
    shape = [*tensor.shape[:axis], 1, *tensor.shape[axis:]]
    return view(tensor, shape, lambda at: [*at[:axis], *at[axis + 1 :]])


def select(tensor: Tensor, axis: int, position: int) -> Tensor:
    """Takes one position along an axis, and drops the axis."""
    axis = axis_of(axis, len(tensor.shape))
    extent = tensor.shape[axis]
    if not -extent <= position < extent:
        raise Untraceable(f"position {position} of an axis of {extent}")
    here = index.number(position % extent)
    shape = [*tensor.shape[:axis], *tensor.shape[axis + 1 :]]
    return view(tensor, shape, lambda at: [*at[:axis], here, *at[axis:]])


def take_slice(tensor: Tensor, axis: int, part: slice) -> Tensor:
    """Takes `start:stop:step` along an axis, as in Python."""
    axis = axis_of(axis, len(tensor.shape))
    start, stop, step = part.indices(tensor.shape[axis])
    extent = len(range(start, stop, step))
    shape = [*tensor.shape[:axis], extent, *tensor.shape[axis + 1 :]]
    return view(tensor, shape, lambda at: [*at[:axis], at[axis] * step + start, *at[axis + 1 :]])


def flip(tensor: Tensor, axes: Sequence[int]) -> Tensor:
    """Reverses axes."""
    for axis in axes_of(list(axes), len(tensor.shape)) if len(axes) else []:
        tensor = take_slice(tensor, axis, slice(None, None, -1))
    return tensor


def roll(tensor: Tensor, shift: int, axis: int) -> Tensor:
    """Shifts along an axis, with wrap-around."""
    axis = axis_of(axis, len(tensor.shape))
    extent = tensor.shape[axis]
    return view(tensor, tensor.shape, lambda at: [*at[:axis], (at[axis] - shift) % extent, *at[axis + 1 :]])


def repeat(tensor: Tensor, times: Sequence[int]) -> Tensor:
    """Repeats the whole tensor along its axes; axes of 1 are added in front."""
    for _ in range(len(times) - len(tensor.shape)):
        tensor = unsqueeze(tensor, 0)
    own = tensor.shape
    shape = [extent * t for extent, t in zip(own, times)]
    return view(tensor, shape, lambda at: [ix % extent for ix, extent in zip(at, own)])


def unfold(tensor: Tensor, axis: int, size: int, step: int) -> Tensor:
    """Takes windows along an axis. Positions in a window become the last axis."""
    axis = axis_of(axis, len(tensor.shape))
    windows = (tensor.shape[axis] - size) // step + 1
    shape = [*tensor.shape[:axis], windows, *tensor.shape[axis + 1 :], size]
    return view(tensor, shape, lambda at: [*at[:axis], at[axis] * step + at[-1], *at[axis + 1 : -1]])


def diagonal(tensor: Tensor, offset: int, one: int, two: int, shape: Sequence[int]) -> Tensor:
    """Takes the elements whose position on axis `two` is that on axis `one` plus `offset`. They become the last axis.
    """
    rest = [a for a in range(len(tensor.shape)) if a not in (one, two)]

    def back(at: Sequence[Ix]) -> list[Ix]:
        result = [at[-1]] * len(tensor.shape)
        for axis, ix in zip(rest, at):
            result[axis] = ix
        result[one], result[two] = at[-1] + max(-offset, 0), at[-1] + max(offset, 0)
        return result

    return view(tensor, shape, back)


def elementwise(
    b: Builder, dtype: str, function: Callable[..., Value], *tensors: Tensor, hint: str = "t", name: str = ""
) -> Tensor:
    """Applies a function of values to tensors that broadcast. `name` tells what is known of its integers."""
    shape = broadcast_shape(*(t.shape for t in tensors))
    wide = [expand(t, shape) for t in tensors]
    kind = kind_of(dtype)

    def element(at: Sequence[Ix]) -> Value:
        return _of_kind(function(*(read(t, at) for t in wide)), kind)

    def read(t: Tensor, at: Sequence[Ix]) -> Value:
        if not t.loose or not ring or wrapping.width(t.dtype) < wrapping.width(dtype):
            return t.at(at)
        return t.element(at)

    ring = kind == "int" and name in wrapping.RING
    closed = kind == "int" and all(_is_within(t, dtype) for t in wide)
    closed = closed and (name in wrapping.CLOSED or name in wrapping.DIVISIONS and _is_plain(wide[-1], dtype))
    return b.tensor(shape, dtype, element, hint, closed)


def _is_within(tensor: Tensor, dtype: str) -> bool:
    """Returns `True` if the integers of a tensor are integers of a type."""
    if tensor.cost == 0 and tensor.kind == "int":
        return wrapping.fits(tensor.element([index.number(0)] * len(tensor.shape)), dtype)
    return wrapping.contains(dtype, tensor.dtype)


def _is_plain(divisor: Tensor, dtype: str) -> bool:
    """Returns `True` if a quotient stays in its type: only the smallest integer through -1 leaves it."""
    if divisor.cost == 0 and divisor.kind == "int":
        return divisor.element([index.number(0)] * len(divisor.shape)).number != -1
    return dtype[0] == "u"


def _of_kind(result: Value, kind: str) -> Value:
    if kind == "bool":
        return value.condition(result)
    result = value.real(result)
    if kind == "int" and result.kind == "real":
        raise Untraceable("a real result for an integer type")
    return result


def cast(b: Builder, tensor: Tensor, dtype: str) -> Tensor:
    """Converts elements: to bool is `!= 0`, from reals to integers truncates, the rest is exact."""
    source, target = tensor.kind, kind_of(dtype)
    if source == target == "int" and tensor.dtype != dtype:
        return _cast_integers(tensor, dtype)
    if source == "int" and target == "real":
        return Tensor(tensor.shape, dtype, tensor.at, tensor.cost)
    if source == target:
        if tensor.dtype == dtype:
            return tensor
        return Tensor(tensor.shape, dtype, tensor.element, tensor.cost, tensor.name if source == target else None)
    if target == "bool":
        return elementwise(b, dtype, value.condition, tensor)
    if source == "bool":
        return elementwise(b, dtype, value.real, tensor)
    return elementwise(b, dtype, lambda v: value.call("trunc", v, kind="int"), tensor)


def _cast_integers(tensor: Tensor, dtype: str) -> Tensor:
    """Converts integers to another type, which keeps their low bits."""
    if wrapping.contains(dtype, tensor.dtype):
        return Tensor(tensor.shape, dtype, tensor.at, tensor.cost, None if tensor.loose else tensor.name)
    if dtype == "s64":  # of u64, with the same bits
        raise Untraceable("integers of u64 as s64")
    narrow = wrapping.width(dtype) <= wrapping.width(tensor.dtype)
    constant = tensor.cost == 0 and wrapping.fits(tensor.element([index.number(0)] * len(tensor.shape)), dtype)
    element = tensor.element if narrow else tensor.at
    return Tensor(tensor.shape, dtype, element, tensor.cost, tensor.name if narrow else None, loose=not constant)


def cat(b: Builder, tensors: Sequence[Tensor], axis: int, dtype: str, hint: str = "cat") -> Tensor:
    """Joins tensors along an axis."""
    axis = axis_of(axis, len(tensors[0].shape))
    parts = [t for t in tensors if t.shape[axis : axis + 1] != (0,)]
    ends, total = [], 0
    for part in parts:
        total += part.shape[axis]
        ends.append(total)
    if not parts:
        return tensors[0]
    shape = [*parts[0].shape[:axis], total, *parts[0].shape[axis + 1 :]]

    def element(at: Sequence[Ix]) -> Value:
        here = at[axis]
        result: Optional[Value] = None
        for part, end in reversed(list(zip(parts, ends))):
            start = end - part.shape[axis]
            if here.lo is not None and here.hi is not None and (here.hi < start or here.lo >= end):
                continue
            inside = (here - start).assume(0, part.shape[axis] - 1)
            one = part.at([*at[:axis], inside, *at[axis + 1 :]])
            if result is None:
                result = one
            else:
                result = value.select(value.compare("<", value.of_index(here), value.constant(end)), one, result)
        assert result is not None
        return result

    return b.tensor(shape, dtype, element, hint)


def pad(b: Builder, tensor: Tensor, widths: Sequence[tuple[int, int]], outside: Scalar, hint: str = "pad") -> Tensor:
    """Adds a constant before and after each axis. Negative widths cut."""
    for axis, (before, after) in enumerate(widths):
        cut = slice(max(-before, 0), tensor.shape[axis] - max(-after, 0))
        tensor = take_slice(tensor, axis, cut)
    sides = [(max(before, 0), max(after, 0)) for before, after in widths]
    own = tensor.shape
    fill = value.constant(outside)

    def element(at: Sequence[Ix]) -> Value:
        inside = value.truth(True)
        shifted = []
        for ix, (before, _), extent in zip(at, sides, own):
            where = ix - before
            number = value.of_index(where)
            inside = value.both(inside, value.compare(">=", number, value.constant(0)))
            inside = value.both(inside, value.compare("<", number, value.constant(extent)))
            shifted.append(where.assume(0, extent - 1))
        if inside.truth is False:
            return fill
        return value.select(inside, tensor.at(shifted), fill)

    shape = [before + extent + after for extent, (before, after) in zip(own, sides)]
    return b.tensor(shape, tensor.dtype, element, hint)


def gather(b: Builder, tensor: Tensor, places: Sequence[Optional[Tensor]], hint: str = "gather") -> Tensor:
    """Takes elements by integer tensors, as `x[a, :, b]` in NumPy and torch; `None` keeps an axis."""
    used = [a for a, p in enumerate(places) if p is not None]
    given = [p for p in places if p is not None]
    for place in given:
        if place.kind != "int":
            raise Untraceable("indexing by a mask: the shape depends on data", "use where")
    common = broadcast_shape(*(p.shape for p in given))
    wide = [expand(b.let(p, "at") if p.cost > 3 else p, common) for p in given]
    adjacent = used == list(range(used[0], used[-1] + 1))
    first = used[0] if adjacent else 0
    rest = [a for a in range(len(tensor.shape)) if a not in used]
    before = [a for a in rest if adjacent and a < first]
    after = [a for a in rest if a not in before]
    shape = [*(tensor.shape[a] for a in before), *common, *(tensor.shape[a] for a in after)]
    source = b.let(tensor, "source") if tensor.cost > 1 else tensor

    def element(at: Sequence[Ix]) -> Value:
        inner = at[len(before) : len(before) + len(common)]
        result = [index.number(0)] * len(tensor.shape)
        for axis, ix in zip(before, at):
            result[axis] = ix
        for axis, ix in zip(after, at[len(before) + len(common) :]):
            result[axis] = ix
        for axis, place in zip(used, wide):
            result[axis] = _wrapped(value.as_index(_place(place, inner, tensor.shape[axis])), tensor.shape[axis])
        return source.at(result)

    return b.tensor(shape, tensor.dtype, element, hint)


def _place(place: Tensor, at: Sequence[Ix], extent: int) -> Value:
    """Returns an index. One within the axis has not wrapped around if the type has all of the axis's indices."""
    high = (wrapping.limits(place.dtype) or (0, 0))[1]
    return place.element(at) if place.loose and extent - 1 <= high else place.at(at)


def _wrapped(ix: Ix, extent: int) -> Ix:
    if ix.within(0, extent) or ix.lo is None or ix.hi is None:
        return ix
    if ix.within(-extent, 0):
        return ix + extent
    if ix.within(-extent, extent):
        return ix % extent
    raise Untraceable(f"an index from {ix.lo} to {ix.hi} into an axis of {extent}")


def patch(b: Builder, tensor: Tensor, part: Tensor, axis: int, places: range) -> Tensor:
    """Returns the tensor with `part` at the positions `places` of an axis, unchanged elsewhere."""
    return assign(b, tensor, part, [places if a == axis else range(e) for a, e in enumerate(tensor.shape)])


def assign(b: Builder, tensor: Tensor, part: Tensor, places: Sequence[range]) -> Tensor:
    """Returns the tensor with `part`, broadcast, at the product of the positions of each axis, unchanged elsewhere."""
    if not all(len(p) for p in places):
        return tensor
    part = expand(part, [len(p) for p in places])

    def element(at: Sequence[Ix]) -> Value:
        chosen = value.truth(True)
        inside = []
        for ix, positions in zip(at, places):
            test, place = _position(ix, positions)
            chosen = value.both(chosen, test)
            inside.append(place)
        if chosen.truth is False:
            return tensor.at(at)
        return value.select(chosen, part.at(inside), tensor.at(at))

    return b.tensor(tensor.shape, tensor.dtype, element, "patched")


def _position(ix: Ix, places: range) -> tuple[Value, Ix]:
    """Returns the condition for an index to be one of `places`, and its number among them."""
    low, high = min(places), max(places)
    number, step = value.of_index(ix), abs(places.step)
    test = value.compare(">=", number, value.constant(low))
    test = value.both(test, value.compare("<=", number, value.constant(high)))
    if low == high:
        test = value.compare("==", number, value.constant(low))
    elif step > 1:
        aligned = value.of_index((ix - low) % step)
        test = value.both(test, value.compare("==", aligned, value.constant(0)))
    place = ((ix - low) // step).assume(0, len(places) - 1)
    return test, place if places.step > 0 else place * -1 + (len(places) - 1)
