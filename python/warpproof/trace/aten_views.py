"""Core ATen operations as formulas: copies, views, joins, constants, indexing.

Views are index maps and cost nothing. An integer tensor used as an index must hold no negative numbers: torch counts
them from the end, and a formula refuses them as out of range.
"""

from __future__ import annotations

from typing import Any, Sequence

from . import tensor as ops
from .aten import Call, template
from .errors import Untraceable
from .formula import Tensor
from .index import Ix, number


@template("clone", "alias", "detach", "lift_fresh_copy", "contiguous", "_to_copy", "to", "lift_fresh", "copy")
def _copy(c: Call) -> Tensor:
    if c.operation == "copy":
        return ops.cast(c.b, ops.expand(c.tensor("src"), c.shape), c.dtype)
    return ops.cast(c.b, c.tensor("self"), c.dtype)


@template("permute")
def _permute(c: Call) -> Tensor:
    return ops.permute(c.tensor("self"), c["dims"])


@template("transpose")
def _transpose(c: Call) -> Tensor:
    order = list(range(len(c.shape)))
    one, two = (ops.axis_of(c[n], len(order)) for n in ("dim0", "dim1"))
    if order:
        order[one], order[two] = order[two], order[one]
    return ops.permute(c.tensor("self"), order)


@template("t")
def _t(c: Call) -> Tensor:
    return ops.permute(c.tensor("self"), list(range(len(c.shape)))[::-1])


@template("diagonal")
def _diagonal(c: Call) -> Tensor:
    source = c.tensor("self")
    one, two = (ops.axis_of(c[n], len(source.shape)) for n in ("dim1", "dim2"))
    return ops.diagonal(source, c["offset"], one, two, c.shape)


@template("view", "reshape", "_unsafe_view")
def _view(c: Call) -> Tensor:
    if c.overload == "dtype":
        raise Untraceable("a view as another type")
    return ops.reshape(c.tensor("self"), c.shape)


@template("as_strided")
def _as_strided(c: Call) -> Tensor:
    if not c.get("row_major", False):
        raise Untraceable("as_strided of a tensor that is not alone and row-major in its memory")
    source, start = c.tensor("self"), c.get("storage_offset", 0)
    flat = ops.reshape(source, [-1])

    def back(at: Sequence[Ix]) -> list[Ix]:
        place = number(start)
        for ix, stride in zip(at, c["stride"]):
            place = place + ix * stride
        return [place]

    return ops.view(flat, c.shape, back)


@template("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def _upsample(c: Call) -> Tensor:
    source = c.tensor("input" if "input" in c.arguments else "self")
    lead = 2
    given = c.get("scale_factors", [])
    steps = []
    for n, (small, large) in enumerate(zip(source.shape[lead:], c.shape[lead:])):
        if large % small or (given and given[n] != large // small):
            raise Untraceable("nearest neighbours at a scale that is not an integer: torch rounds positions")
        steps.append(large // small)

    def back(at: Sequence[Ix]) -> list[Ix]:
        return [*at[:lead], *(ix // step for ix, step in zip(at[lead:], steps))]

    return ops.view(source, c.shape, back)


@template("expand")
def _expand(c: Call) -> Tensor:
    return ops.expand(c.tensor("self"), c.shape)


@template("squeeze")
def _squeeze(c: Call) -> Tensor:
    axes = c.get("dim")
    return ops.squeeze(c.tensor("self"), [axes] if isinstance(axes, int) else axes)


@template("unsqueeze")
def _unsqueeze(c: Call) -> Tensor:
    return ops.unsqueeze(c.tensor("self"), c["dim"])


@template("select")
def _select(c: Call) -> Tensor:
    return ops.select(c.tensor("self"), c["dim"], c["index"])


@template("slice")
def _slice(c: Call) -> Tensor:
    return ops.take_slice(c.tensor("self"), c["dim"], slice(c.get("start"), c.get("end"), c["step"]))


@template("flip")
def _flip(c: Call) -> Tensor:
    return ops.flip(c.tensor("self"), c["dims"])


@template("unfold")
def _unfold(c: Call) -> Tensor:
    source = c.tensor("self")
    if not source.shape:
        return ops.reshape(source, c.shape)
    return ops.unfold(source, c["dimension"], c["size"], c["step"])


@template("repeat")
def _repeat(c: Call) -> Tensor:
    return ops.repeat(c.tensor("self"), c["repeats"])


@template("cat")
def _cat(c: Call) -> Tensor:
    parts = [ops.cast(c.b, t, c.dtype) for t in c["tensors"] if t.shape != (0,)]
    return ops.cat(c.b, parts, c["dim"], c.dtype) if parts else ops.full(c.shape, 0, c.dtype)


@template("stack")
def _stack(c: Call) -> Tensor:
    axis = ops.axis_of(c["dim"], len(c.shape))
    return ops.cat(c.b, [ops.unsqueeze(t, axis) for t in c["tensors"]], axis, c.dtype)


@template("split_with_sizes", "split", "unbind")
def _split(c: Call) -> list[Tensor]:
    source = c.tensor("self")
    axis = ops.axis_of(c["dim"], len(source.shape))
    if c.operation == "unbind":
        return [ops.select(source, axis, n) for n in range(source.shape[axis])]
    parts, start = [], 0
    for _, shape in c.results:
        parts.append(ops.take_slice(source, axis, slice(start, start + shape[axis])))
        start += shape[axis]
    return parts


@template("constant_pad_nd")
def _pad(c: Call) -> Tensor:
    source, flat = c.tensor("self"), list(c["pad"])
    pairs = [(flat[n], flat[n + 1]) for n in range(0, len(flat), 2)][::-1]
    return ops.pad(c.b, source, [(0, 0)] * (len(source.shape) - len(pairs)) + pairs, c.get("value", 0))


@template("full", "full_like", "new_full", "scalar_tensor")
def _full(c: Call) -> Tensor:
    number = c["s"] if c.operation == "scalar_tensor" else c["fill_value"]
    if not isinstance(number, (bool, int, float)):
        raise Untraceable(f"a constant that is {number!r}")
    return ops.full(c.shape, number, c.dtype)


@template("zeros", "zeros_like", "new_zeros")
def _zeros(c: Call) -> Tensor:
    return ops.full(c.shape, 0, c.dtype)


@template("ones", "ones_like", "new_ones")
def _ones(c: Call) -> Tensor:
    return ops.full(c.shape, 1, c.dtype)


@template("arange")
def _arange(c: Call) -> Tensor:
    start, step = c.get("start", 0), c.get("step", 1)
    if start != int(start) or step != int(step):
        raise Untraceable("arange with steps that are not integers")
    return ops.arange(c.shape[0], int(start), int(step), c.dtype)


@template("index", "_unsafe_index")
def _index(c: Call) -> Tensor:
    source, places = c.tensor("self"), list(c["indices"])
    return ops.gather(c.b, source, places + [None] * (len(source.shape) - len(places)), "index")


@template("index_select")
def _index_select(c: Call) -> Tensor:
    source, place = c.tensor("self"), c.tensor("index")
    axis = ops.axis_of(c["dim"], len(source.shape))
    if len(place.shape) != 1 or not source.shape:
        raise Untraceable("index_select of a scalar or by a scalar")
    return ops.gather(c.b, source, [place if a == axis else None for a in range(len(source.shape))], "index")


@template("embedding")
def _embedding(c: Call) -> Tensor:
    return ops.gather(c.b, c.tensor("weight"), [c.tensor("indices"), None], "embedding")


@template("gather")
def _gather(c: Call) -> Tensor:
    source, place = c.tensor("self"), c.tensor("index")
    rank = len(source.shape)
    if rank == 0 or len(place.shape) != rank:
        raise Untraceable("gather of a scalar or by a scalar")
    axis = ops.axis_of(c["dim"], rank)
    grid = []
    for a in range(rank):
        line = ops.arange(place.shape[a], 0, 1, "s64")
        grid.append(place if a == axis else ops.reshape(line, [-1 if n == a else 1 for n in range(rank)]))
    return ops.gather(c.b, source, grid, "gather")


@template("select_scatter", "slice_scatter")
def _scatter(c: Call) -> Tensor:
    source, patch = c.tensor("self"), c.tensor("src")
    axis, extent = ops.axis_of(c["dim"], len(source.shape)), source.shape[ops.axis_of(c["dim"], len(source.shape))]
    if c.operation == "select_scatter":
        start, stop, step = c["index"] % extent, c["index"] % extent + 1, 1
        patch = ops.unsqueeze(patch, axis)
    else:
        start, stop, step = slice(c.get("start"), c.get("end"), c["step"]).indices(extent)
    return ops.patch(c.b, source, patch, axis, range(start, stop, step))


@template("sym_size", "sym_numel", "sym_stride")
def _symbolic(c: Call) -> Any:
    raise Untraceable("a size that is not fixed")
