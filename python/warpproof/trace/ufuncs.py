"""Ufuncs of NumPy (and of scipy.special) as expressions, by their names."""

from __future__ import annotations

from typing import Callable

from . import value
from .aten import BINARY, UNARY
from .value import Value

_SAME = """exp exp2 log log2 log1p expm1 sqrt tanh sin cos tan sinh cosh log10 floor ceil trunc sign reciprocal
isnan isinf logical_not erf"""
_PAIRS = "maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor floor_divide remainder fmod"


def _isfinite(v: Value) -> Value:
    return value.invert(UNARY["isinf"](v))


def _heaviside(v: Value, at_zero: Value) -> Value:
    below = value.select(value.compare("<", v, value.constant(0)), value.constant(0.0), value.constant(1.0))
    return value.select(value.compare("==", v, value.constant(0)), at_zero, below)


def _logaddexp(a: Value, b: Value) -> Value:
    return value.call("log", value.add(value.call("exp", a), value.call("exp", b)))


def _add(a: Value, b: Value) -> Value:
    return value.either(a, b) if a.kind == b.kind == "bool" else value.add(a, b)


def _square(v: Value) -> Value:
    return value.power(v, value.constant(2))


_PI = Value("pi", value.PRIMARY, "real", 0)

UFUNCS: dict[str, Callable[..., Value]] = {
    **{name: UNARY[name] for name in _SAME.split()},
    **{name: BINARY[name] for name in _PAIRS.split()},
    "add": _add,
    "subtract": value.subtract,
    "multiply": BINARY["mul"],
    "divide": value.divide,
    "true_divide": value.divide,
    "negative": value.negate,
    "positive": lambda v: v,
    "absolute": UNARY["abs"],
    "fabs": UNARY["abs"],
    "power": value.power,
    "float_power": value.power,
    "square": _square,
    "mod": value.remainder,
    "invert": UNARY["bitwise_not"],
    "bitwise_not": UNARY["bitwise_not"],
    "equal": BINARY["eq"],
    "not_equal": BINARY["ne"],
    "less": BINARY["lt"],
    "less_equal": BINARY["le"],
    "greater": BINARY["gt"],
    "greater_equal": BINARY["ge"],
    "isfinite": _isfinite,
    "heaviside": _heaviside,
    "logaddexp": _logaddexp,
    "expit": UNARY["sigmoid"],
    "erfc": lambda v: value.subtract(value.constant(1), value.call("erf", v)),
    "conjugate": lambda v: v,
    "clip": lambda v, a, b: value.extremum("min", value.extremum("max", v, a), b),
    "degrees": lambda v: value.divide(value.multiply(v, value.constant(180)), _PI),
    "radians": lambda v: value.divide(value.multiply(v, _PI), value.constant(180)),
}
