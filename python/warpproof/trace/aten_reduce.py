"""Core ATen operations as formulas: reductions, products, normalisations, convolutions and pools.

Batch norm in training mode normalises by the statistics of the batch; the running statistics it updates are not
results. The indices returned by max pools beside their values, and the saved statistics of norms, are refused if
used.
"""

from __future__ import annotations

import math
from typing import Any, Optional

from . import reduce as red, tensor as ops, value, windows
from .aten import Call, template
from .errors import Untraceable
from .formula import Tensor, count, kind_of
from .value import Value


class Unused:
    """A result for which there is no formula."""

    def __init__(self, reason: str):
        self.reason = reason


@template("sum", "mean", "amax", "amin", "prod", "any", "all")
def _reduce(c: Call) -> Tensor:
    operation = {"amax": "max", "amin": "min"}.get(c.operation, c.operation)
    source = c.tensor("self")
    if source.kind == "bool" and operation in ("max", "min"):
        operation = {"max": "any", "min": "all"}[operation]
    axes = c.get("dim")
    if operation in ("any", "all"):
        source = ops.cast(c.b, source, "bool")
        if axes is not None and not isinstance(axes, int) and len(axes) == 0:
            return source  # over no axis; sums over no axes are those over all
    elif operation in ("sum", "prod") and (c.dtype == "bool" or kind_of(c.dtype) != source.kind):
        # With an explicit type the values are converted before the sum; a sum of type bool is true if any value is.
        source = ops.cast(c.b, source, c.dtype)
        operation = {"sum": "any", "prod": "all"}[operation] if c.dtype == "bool" else operation
    return red.reduce(c.b, operation, source, axes, bool(c.get("keepdim", False)), c.dtype, c.operation)


@template("max", "min")
def _extremum(c: Call) -> Any:
    source = c.tensor("self")
    if c.overload == "other":
        return c.elementwise(lambda a, b: value.extremum(c.operation, a, b), "self", "other")
    if c.overload not in ("default", "dim"):
        raise Untraceable("this form of max and min")
    if c.overload == "default":
        return red.reduce(c.b, c.operation, source, None, False, c.dtype)
    source = c.b.let(source, "values") if source.cost > 3 else source
    keep = bool(c.get("keepdim", False))
    values = red.reduce(c.b, c.operation, source, c["dim"], keep, c.dtype)
    return [values, red.arg(c.b, "arg" + c.operation, source, c["dim"], keep, "s64")]


@template("argmax", "argmin")
def _arg(c: Call) -> Tensor:
    return red.arg(c.b, c.operation, c.tensor("self"), c.get("dim"), bool(c.get("keepdim", False)), c.dtype)


@template("cumsum", "cumprod")
def _scan(c: Call) -> Tensor:
    operation = {"cumsum": "sum", "cumprod": "prod"}[c.operation]
    source = ops.cast(c.b, c.tensor("self"), c.dtype)
    return red.scan(c.b, operation, source, c["dim"], c.dtype, c.operation)


@template("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def _softmax(c: Call) -> Tensor:
    source = c.tensor("self")
    if not source.shape:
        return ops.full((), 0 if "log" in c.operation else 1, c.dtype)
    if c.operation == "_safe_softmax":
        raise Untraceable("softmax that is 0 where a whole row is -inf")
    return red.softmax(c.b, source, c["dim"], c.dtype, "log" in c.operation)


@template("logsumexp")
def _logsumexp(c: Call) -> Tensor:
    powers = ops.elementwise(c.b, c.dtype, lambda v: value.call("exp", v), c.tensor("self"))
    total = red.reduce(c.b, "sum", powers, c["dim"], bool(c.get("keepdim", False)), c.dtype)
    return ops.elementwise(c.b, c.dtype, lambda v: value.call("log", v), total)


@template("linalg_vector_norm")
def _vector_norm(c: Call) -> Tensor:
    """Some versions of torch decompose norms, others keep them."""
    order, axes, keep = c.get("ord", 2), c.get("dim"), bool(c.get("keepdim", False))
    source = ops.cast(c.b, c.tensor("self"), c.dtype)
    size = ops.elementwise(c.b, c.dtype, lambda v: value.call("abs", v), source)
    if order in (math.inf, -math.inf):
        return red.reduce(c.b, "max" if order > 0 else "min", size, axes, keep, c.dtype)
    if order == 1:
        return red.reduce(c.b, "sum", size, axes, keep, c.dtype)
    if order != 2:
        raise Untraceable(f"the norm of order {order}")
    total = red.reduce(c.b, "sum", ops.elementwise(c.b, c.dtype, lambda v: value.multiply(v, v), source), axes, keep, c.dtype)
    return ops.elementwise(c.b, c.dtype, lambda v: value.call("sqrt", v), total)


@template("var", "var_mean", "std", "std_mean")
def _variance(c: Call) -> Any:
    if c.overload not in ("correction", "dim", "default"):
        raise Untraceable("this form of variance")
    correction = c.get("correction", 1)
    if "unbiased" in c.arguments:
        correction = 1 if c["unbiased"] else 0
    mean, spread = red.variance(c.b, c.tensor("self"), c.get("dim"), bool(c.get("keepdim", False)), c.dtype, correction)
    if c.operation.startswith("std"):
        spread = ops.elementwise(c.b, c.dtype, lambda v: value.call("sqrt", v), spread)
    return [spread, mean] if c.operation.endswith("_mean") else spread


@template("mm", "bmm", "matmul", "mv", "dot")
def _matmul(c: Call) -> Tensor:
    right = next(n for n in ("mat2", "other", "vec", "tensor") if n in c.arguments)
    return red.matmul(c.b, c.tensor("self"), c.tensor(right), c.dtype, "product")


@template("addmm", "baddbmm", "addmv")
def _addmm(c: Call) -> Tensor:
    names = next(p for p in (("mat1", "mat2"), ("batch1", "batch2"), ("mat", "vec")) if p[0] in c.arguments)
    product = red.matmul(c.b, c.tensor(names[0]), c.tensor(names[1]), c.dtype, "product")
    alpha, beta = (value.constant(c.get(n, 1)) for n in ("alpha", "beta"))
    if beta.number == 0:
        return ops.elementwise(c.b, c.dtype, lambda p: value.multiply(alpha, p), product)

    def apply(p: Value, v: Value) -> Value:
        return value.add(value.multiply(alpha, p), value.multiply(beta, v))

    return ops.elementwise(c.b, c.dtype, apply, product, c.tensor("self"))


def _optional(c: Call, name: str) -> Optional[Tensor]:
    return c.tensor(name) if c.arguments.get(name) is not None else None


def _along(t: Optional[Tensor], axis: int, rank: int) -> Optional[Tensor]:
    return None if t is None else ops.reshape(t, [-1 if a == axis else 1 for a in range(rank)])


_SAVED = Unused("saved statistics of a norm")


@template("native_layer_norm")
def _layer_norm(c: Call) -> list[Any]:
    source = c.tensor("input")
    source = c.b.let(source, "values") if source.cost > 3 else source
    rank = len(source.shape)
    axes = list(range(rank - len(c["normalized_shape"]), rank))
    mean, spread = red.variance(c.b, source, axes, True, c.dtype)
    weight, bias = _optional(c, "weight"), _optional(c, "bias")
    return [red.normalise(c.b, source, mean, spread, c["eps"], weight, bias, c.dtype), _SAVED, _SAVED]


@template("native_group_norm")
def _group_norm(c: Call) -> list[Any]:
    source = c.tensor("input")
    source = c.b.let(source, "values") if source.cost > 1 else source
    n, channels, groups = source.shape[0], source.shape[1], c["group"]
    parts = ops.reshape(source, [n, groups, count(source.shape[1:]) // groups])
    mean, spread = red.variance(c.b, parts, [2], True, c.dtype)
    rank = len(source.shape)
    wide = []
    for t in (mean, spread):
        t = ops.expand(ops.reshape(t, [n, groups, 1]), [n, groups, channels // groups])
        wide.append(ops.reshape(t, [n, channels, *[1] * (rank - 2)]))
    weight, bias = (_along(_optional(c, name), 1, rank) for name in ("weight", "bias"))
    return [red.normalise(c.b, source, wide[0], wide[1], c["eps"], weight, bias, c.dtype), _SAVED, _SAVED]


@template(
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "native_batch_norm",
)
def _batch_norm(c: Call) -> list[Any]:
    source = c.tensor("input")
    source = c.b.let(source, "values") if source.cost > 1 else source
    rank = len(source.shape)
    if c.get("training", False):
        mean, spread = red.variance(c.b, source, [a for a in range(rank) if a != 1], True, c.dtype)
    else:
        running = [_along(_optional(c, name), 1, rank) for name in ("running_mean", "running_var")]
        if running[0] is None or running[1] is None:
            raise Untraceable("batch norm without statistics")
        mean, spread = running[0], running[1]
    weight, bias = (_along(_optional(c, name), 1, rank) for name in ("weight", "bias"))
    result = red.normalise(c.b, source, mean, spread, c["eps"], weight, bias, c.dtype)
    return [result, *[_SAVED] * (len(c.results) - 1)]


@template("convolution")
def _convolution(c: Call) -> Tensor:
    weight = c.tensor("weight")
    rank = len(weight.shape) - 2
    window = windows.Window.of(rank, weight.shape[2:], c["stride"], c["padding"], c["dilation"])
    return windows.convolution(
        c.b, c.tensor("input"), weight, _optional(c, "bias"), window, c["groups"], c.shape, bool(c["transposed"])
    )


def _window(c: Call) -> windows.Window:
    rank = int(c.operation.split("pool")[1][0])
    return windows.Window.of(rank, c["kernel_size"], c["stride"], c["padding"], c.get("dilation", [1]))


@template("max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool(c: Call) -> Any:
    pooled = windows.max_pool(c.b, c.tensor("self"), _window(c), c.shape)
    return [pooled, Unused("indices of a max pool")] if c.operation.endswith("indices") else pooled


@template("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _average_pool(c: Call) -> Tensor:
    include = bool(c.get("count_include_pad", True))
    return windows.average_pool(c.b, c.tensor("self"), _window(c), c.shape, include, c.get("divisor_override"))


@template("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d")
def _adaptive(c: Call) -> Tensor:
    return windows.adaptive_average_pool(c.b, c.tensor("self"), c.shape, int(c.operation[-2]))
