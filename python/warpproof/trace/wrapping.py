"""Integers that wrap around: NumPy and torch compute every integer operation modulo its type's size.

Formulas compute with whole numbers. A store keeps the low bits, and so do sums, differences and products, so a tensor
may stay `loose` among these: its expression is right only modulo the size of its type. Everything else reads the
element `wrapped`. Elements of s64 are never loose: the program refuses integers that may exceed 64 bits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Optional

from . import value
from .errors import Untraceable
from .value import Value

#: Functions whose results fit in the type of their operands, by NumPy's and torch's names.
CLOSED = frozenset(
    """maximum minimum fmax fmin max min remainder mod fmod sign sgn floor ceil trunc positive where masked_fill clip
    clamp clamp_min clamp_max relu""".split()
)
DIVISIONS = frozenset(["floor_divide", "div"])
#: Functions computed with the low bits of their operands alone.
RING = frozenset("add sub subtract rsub mul multiply neg negative bitwise_not invert".split())


def limits(dtype: str) -> Optional[tuple[int, int]]:
    """Returns the smallest and the largest integer of a type, `None` for other types."""
    if dtype == "bool" or dtype == "b1":
        return 0, 1
    if dtype[0] not in "su" or not dtype[1:].isdigit():
        return None
    bits = int(dtype[1:])
    return (0, (1 << bits) - 1) if dtype[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def contains(dtype: str, other: str) -> bool:
    """Returns `True` if every integer of the other type is one of this type."""
    own, inner = limits(dtype), limits(other)
    return own is not None and inner is not None and own[0] <= inner[0] and inner[1] <= own[1]


def width(dtype: str) -> int:
    """Returns the number of bits of an integer type. Python's integers and truth values keep all of theirs."""
    return int(dtype[1:]) if dtype not in ("bool", "b1") else 64


def fits(v: Value, dtype: str) -> bool:
    """Returns `True` if an integer expression is known to be within its type."""
    if dtype == "s64" or v.kind != "int":
        return True
    low, high = limits(dtype) or (0, 0)
    if isinstance(v.number, Fraction):
        return low <= v.number <= high
    return v.ix is not None and v.ix.lo is not None and v.ix.hi is not None and low <= v.ix.lo and v.ix.hi <= high


def low_bits(number: int, dtype: str) -> int:
    """Returns an integer as its type keeps it."""
    low, high = limits(dtype) or (number, number)
    return (number - low) % (high - low + 1) + low


def wrapped(v: Value, dtype: str) -> Value:
    """Returns the integer that the type keeps of an expression."""
    if fits(v, dtype):
        return v
    if isinstance(v.number, Fraction):
        return value.constant(low_bits(int(v.number), dtype))
    low, high = limits(dtype) or (0, 0)
    if high >= 1 << 62:
        raise Untraceable(f"an integer that may be outside of {dtype}", "compute in s64")
    size = value.constant(high - low + 1)
    if low == 0:
        return value.remainder(v, size)
    half = value.constant(-low)
    return value.subtract(value.remainder(value.add(v, half), size), half)
