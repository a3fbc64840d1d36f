"""Python floats as exact constants of formulas.

A float stands for the decimal that Python prints: `1e-5` means 1/100000, as its author intends, not the nearest
double. A float of 16 or 17 digits may be the double of a simple closed form: a fraction, the square root of a
fraction, a multiple of pi, of log2(e) or of ln(2), or a root with pi. Then it is written as that form:
`1/math.sqrt(96)` becomes `sqrt(1/96)`. The forms are few (below 10^7) against 2^52 doubles, so a float near one by
accident is not to be expected; the text of the formula shows the form taken.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Optional, Union

Exact = Union[Fraction, float]  # a float only for the infinities

_SHORT = 15
_NEAR = 2.0**-51


def exact(value: Union[int, float]) -> Exact:
    """Returns the number meant by a Python literal."""
    if isinstance(value, int):
        return Fraction(int(value))
    if math.isnan(value):
        raise ValueError("NaN is not a real number, so a formula cannot contain it")
    if math.isinf(value):
        return value
    return Fraction(Decimal(repr(value)))


def show(value: Exact, is_integer: bool = False) -> str:
    """Writes a number of at least 0: a decimal if that is exact and short, otherwise a fraction.

    A point or an exponent makes a literal a real, so integers have neither.
    """
    if isinstance(value, float):
        return "inf"
    if value.denominator == 1:
        return str(value.numerator) if is_integer else _integer(value.numerator)
    decimal = _decimal(value)
    return decimal if decimal else f"{value.numerator}/{value.denominator}"


def _integer(value: int) -> str:
    text = str(value)
    zeros = len(text) - len(text.rstrip("0"))
    return f"{text[:-zeros]}e{zeros}" if zeros > 6 else text


def _decimal(value: Fraction) -> Optional[str]:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return None
    scale = 0
    while value.denominator != 1:
        value, scale = value * 10, scale + 1
    digits = str(value.numerator)
    if len(digits) > 18:
        return None
    if scale > len(digits) + 3:
        return f"{digits}e-{scale}"
    digits = digits.rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}"


def closed_form(value: float) -> Optional[str]:
    """Returns a closed form (a primary or a product) of a positive float that has no short decimal."""
    digits = repr(value).replace(".", "").split("e")[0].strip("0")
    if len(digits) <= _SHORT or not math.isfinite(value) or not 1e-6 < value < 1e6:
        return None
    plain = _fraction(value, 1024)
    if plain:
        return show(plain)
    for name, constant in (("pi", math.pi), ("log2e", math.log2(math.e)), ("ln2", math.log(2))):
        ratio = _fraction(value / constant, 64)
        if ratio:
            return name if ratio == 1 else f"{ratio.numerator}*{name}" + _over(ratio.denominator)
    return _root(value)


def _root(value: float) -> Optional[str]:
    square = value * value
    plain = _fraction(square, 4096)
    if plain:
        return f"sqrt({show(plain)})"
    for text, factor in (("{0}*pi/{1}", math.pi), ("{0}/({1}*pi)", 1 / math.pi)):
        ratio = _fraction(square / factor, 64)
        if ratio:
            return (
                "sqrt("
                + text.format(ratio.numerator, ratio.denominator).replace("1*pi)", "pi)").replace("(pi)", "pi")
                + ")"
            )
    return None


def _fraction(value: float, largest: int) -> Optional[Fraction]:
    near = Fraction(value).limit_denominator(largest)
    if near and near.numerator <= 1 << 20 and abs(float(near) - value) <= _NEAR * value:
        return near
    return None


def _over(denominator: int) -> str:
    return f"/{denominator}" if denominator != 1 else ""
