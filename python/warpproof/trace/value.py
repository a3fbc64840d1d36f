"""Scalar expressions of formulas: text with its precedence, kind, constant and cost.

Arithmetic is over the reals, so only steps valid for all reals are simplified: constants fold exactly, `x + 0` and
`1*x` drop, conditions on indices are decided if their ranges allow it. A step that could hide an undefined operation
is not taken (`0*x` stays). Inputs are real numbers: a comparison of an expression without infinities with an infinity
is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Optional, Union

from . import index, numbers
from .errors import Untraceable
from .index import Ix

NAN = "NaN"  # refused in a definition; a choice that is never taken may have it

IF, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, POWER, PRIMARY = range(10)


@dataclass(frozen=True)
class Value:
    """An expression: `kind` is "real", "int" or "bool"; `cost` counts operations and elements."""

    text: str
    prec: int
    kind: str
    cost: int
    number: Optional[numbers.Exact] = None
    ix: Optional[Ix] = None
    truth: Optional[bool] = None
    finite: bool = True
    branches: Optional[tuple["Value", "Value", "Value"]] = None  # condition, yes, no

    def at(self, prec: int) -> str:
        """Returns the text, in parentheses if it binds weaker than `prec`."""
        return self.text if self.prec >= prec else f"({self.text})"


def constant(value: Union[int, float, bool, Fraction]) -> Value:
    """Returns a constant. A float means the decimal that Python prints (see `numbers`)."""
    if isinstance(value, bool):
        return truth(value)
    if isinstance(value, float) and value != value:
        return Value(NAN, PRIMARY, "real", 0, finite=False)
    if isinstance(value, float):
        form = numbers.closed_form(abs(value))
        if form:
            body = Value(form, PRIMARY if form.isalnum() or form.startswith("sqrt") else PRODUCT, "real", 0)
            return body if value > 0 else negate(body)
        return _number(numbers.exact(value), "real")
    return _number(Fraction(value), "int" if isinstance(value, int) else "real")


def _number(value: numbers.Exact, kind: str) -> Value:
    text = numbers.show(-value if value < 0 else value, kind == "int")
    prec = PRODUCT if "/" in text else PRIMARY
    if value < 0:
        text, prec = "-" + text, UNARY if prec == PRIMARY else SUM
    whole = index.number(int(value)) if kind == "int" else None
    return Value(text, prec, kind, 0, value, whole, finite=isinstance(value, Fraction))


def truth(value: bool) -> Value:
    """Returns a condition that holds always or never."""
    return Value("0 == 0" if value else "0 != 0", COMPARE, "bool", 0, truth=value)


def of_index(ix: Ix) -> Value:
    """Returns an index as a number."""
    if ix.constant is not None:
        return constant(ix.constant)
    text = index.show(ix)
    return Value(text, PRIMARY if index.is_simple(ix) else SUM, "int", 1, ix=ix)


def as_index(value: Value) -> Ix:
    """Returns an integer expression as an index of a tensor."""
    if value.ix is not None:
        return value.ix
    if value.kind != "int":
        raise Untraceable("an index that is not an integer")
    return index.data(value.at(PRIMARY))


def real(value: Value) -> Value:
    """Turns conditions into 0 and 1. Numbers stay."""
    if value.kind != "bool":
        return value
    if value.truth is not None:
        return constant(int(value.truth))
    return Value(f"1 if {value.at(OR)} else 0", IF, "int", value.cost + 1)


def condition(value: Value) -> Value:
    """Turns numbers into "differs from 0". Conditions stay."""
    return value if value.kind == "bool" else compare("!=", value, constant(0))


def _kind(a: Value, b: Value) -> str:
    return "int" if a.kind == b.kind == "int" else "real"


def _finite(a: Value, b: Value) -> bool:
    return isinstance(a.number, Fraction) and isinstance(b.number, Fraction)


def _folded(result: Fraction, kind: str) -> Optional[Value]:
    """Returns a constant, or `None` if its digits would be longer than a double's: then the text stays a product or
    sum.
    """
    short = abs(result.numerator) < 1 << 53 and result.denominator < 1 << 53
    return _number(result, kind) if short else None


def add(a: Value, b: Value) -> Value:
    """Returns `a + b`."""
    a, b = real(a), real(b)
    if a.ix is not None and b.ix is not None:
        return of_index(a.ix + b.ix)
    folded = _folded(a.number + b.number, _kind(a, b)) if _finite(a, b) else None  # type: ignore[operator,arg-type]
    if folded is not None:
        return folded
    if a.number == 0 and a.kind == _kind(a, b) or a.number == 0 and b.kind == "real":
        return b
    if b.number == 0 and a.kind == _kind(a, b):
        return a
    return Value(f"{a.at(SUM)} + {b.at(PRODUCT)}", SUM, _kind(a, b), a.cost + b.cost + 1, finite=a.finite and b.finite)


def subtract(a: Value, b: Value) -> Value:
    """Returns `a - b`."""
    a, b = real(a), real(b)
    if a.ix is not None and b.ix is not None:
        return of_index(a.ix - b.ix)
    folded = _folded(a.number - b.number, _kind(a, b)) if _finite(a, b) else None  # type: ignore[operator,arg-type]
    if folded is not None:
        return folded
    if b.number == 0 and a.kind == _kind(a, b):
        return a
    return Value(f"{a.at(SUM)} - {b.at(PRODUCT)}", SUM, _kind(a, b), a.cost + b.cost + 1, finite=a.finite and b.finite)


def multiply(a: Value, b: Value) -> Value:
    """Returns `a*b`."""
    a, b = real(a), real(b)
    for one, other in ((a, b), (b, a)):
        if one.ix is not None and other.ix is not None and not one.ix.terms:
            return of_index(other.ix * one.ix.const)
    folded = _folded(a.number * b.number, _kind(a, b)) if _finite(a, b) else None  # type: ignore[operator,arg-type]
    if folded is not None:
        return folded
    for one, other in ((a, b), (b, a)):
        if one.number == 1 and other.kind == _kind(a, b):
            return other
    return Value(
        f"{a.at(PRODUCT)}*{b.at(UNARY)}", PRODUCT, _kind(a, b), a.cost + b.cost + 1, finite=a.finite and b.finite
    )


def divide(a: Value, b: Value) -> Value:
    """Returns `a / b`, a real even for integers."""
    a, b = real(a), real(b)
    divisible = _finite(a, b) and b.number != 0
    folded = _folded(a.number / b.number, "real") if divisible else None  # type: ignore[operator,arg-type]
    if folded is not None:
        return folded
    if b.number == 1 and a.kind == "real":
        return a
    return Value(f"{a.at(PRODUCT)} / {b.at(UNARY)}", PRODUCT, "real", a.cost + b.cost + 1, finite=a.finite and b.finite)


def floor_divide(a: Value, b: Value) -> Value:
    """Returns the quotient rounded down."""
    a, b = real(a), real(b)
    if a.ix is not None and b.ix is not None and b.ix.constant is not None and b.ix.constant > 0:
        return of_index(a.ix // b.ix.constant)
    if _kind(a, b) == "int":
        return Value(f"{a.at(PRODUCT)} // {b.at(UNARY)}", PRODUCT, "int", a.cost + b.cost + 1)
    return call("floor", divide(a, b))


def remainder(a: Value, b: Value) -> Value:
    """Returns the remainder with the sign of `b`."""
    a, b = real(a), real(b)
    if a.ix is not None and b.ix is not None and b.ix.constant is not None and b.ix.constant > 0:
        return of_index(a.ix % b.ix.constant)
    if _kind(a, b) == "int":
        return Value(f"{a.at(PRODUCT)} % {b.at(UNARY)}", PRODUCT, "int", a.cost + b.cost + 1)
    return subtract(a, multiply(b, floor_divide(a, b)))


def negate(a: Value) -> Value:
    """Returns `-a`."""
    a = real(a)
    if a.ix is not None:
        return of_index(a.ix * -1)
    if a.number is not None:
        return _number(-a.number, a.kind)
    return Value(f"-{a.at(UNARY)}", UNARY, a.kind, a.cost + 1, finite=a.finite)


def power(a: Value, b: Value) -> Value:
    """Returns `a^b` where that is a polynomial, a root or an exponential. Refuses the rest."""
    a, b = real(a), real(b)
    n = b.number
    if isinstance(n, Fraction) and n.denominator == 1:
        return _whole_power(a, int(n), _kind(a, b) if n >= 0 else "real")
    if n == Fraction(1, 2):
        return call("sqrt", a)
    if n == Fraction(-1, 2):
        return call("rsqrt", a)
    if n == Fraction(3, 2):
        return multiply(a, call("sqrt", a))
    if a.number == 2:
        return call("exp2", b)
    if isinstance(a.number, Fraction) and a.number > 0:
        return call("exp", multiply(b, call("log", a)))
    raise Untraceable("a power whose exponent is not an integer or a half", "write exp(b*log(a)) if a is positive")


def _whole_power(a: Value, n: int, kind: str) -> Value:
    if n == 0:
        return constant(1 if kind == "int" else 1.0)
    if n == 1:
        return Value(a.text, a.prec, kind, a.cost, a.number, a.ix, finite=a.finite)
    if n < 0:
        return divide(constant(1), _whole_power(a, -n, "real"))
    folded = _folded(a.number**n, kind) if isinstance(a.number, Fraction) else None
    if folded is not None:
        return folded
    return Value(f"{a.at(PRIMARY)}^{n}", POWER, kind, a.cost + 1, finite=a.finite)


def call(function: str, *arguments: Value, kind: str = "real") -> Value:
    """Returns a call of a function of the grammar."""
    values = [real(a) for a in arguments]
    text = ", ".join(v.text for v in values)
    finite = all(v.finite for v in values)
    return Value(f"{function}({text})", PRIMARY, kind, sum(v.cost for v in values) + 1, finite=finite)


def extremum(function: str, a: Value, b: Value) -> Value:
    """Returns the larger (`max`) or smaller (`min`) of two values."""
    a, b = real(a), real(b)
    if _finite(a, b):
        first = (a.number > b.number) == (function == "max")  # type: ignore[operator]
        return a if first else b
    if a.text.isidentifier() and a.ix is not None:
        a, b = b, a  # `max(i, …)` would read as a reduction
    if a.text.isidentifier():
        return select(compare(">" if function == "max" else "<", a, b), a, b)
    return call(function, a, b, kind=_kind(a, b))


def compare(operator: str, a: Value, b: Value) -> Value:
    """Returns a comparison, decided if the ranges of indices allow it."""
    a, b = real(a), real(b)
    known = _decided(operator, a, b)
    if known is not None:
        return truth(known)
    if isinstance(b.number, float) and a.branches is not None:
        choice, yes, no = a.branches
        return select(choice, compare(operator, yes, b), compare(operator, no, b))
    return Value(f"{a.at(SUM)} {operator} {b.at(SUM)}", COMPARE, "bool", a.cost + b.cost + 1)


def _decided(operator: str, a: Value, b: Value) -> Optional[bool]:
    if a.ix is not None and b.ix is not None:
        gap = a.ix - b.ix
        lo, hi = gap.lo, gap.hi
    elif _finite(a, b):
        sign = (a.number > b.number) - (a.number < b.number)  # type: ignore[operator]
        lo = hi = sign
    elif isinstance(b.number, float) and (a.finite or isinstance(a.number, float)):
        lo = hi = 0 if a.number == b.number else -1 if b.number > 0 else 1
    else:
        return None
    yes, no = {
        "<": (hi is not None and hi < 0, lo is not None and lo >= 0),
        "<=": (hi is not None and hi <= 0, lo is not None and lo > 0),
        ">": (lo is not None and lo > 0, hi is not None and hi <= 0),
        ">=": (lo is not None and lo >= 0, hi is not None and hi < 0),
        "==": (lo == hi == 0, lo is not None and lo > 0 or hi is not None and hi < 0),
        "!=": (lo is not None and lo > 0 or hi is not None and hi < 0, lo == hi == 0),
    }[operator]
    return True if yes else False if no else None


def both(a: Value, b: Value) -> Value:
    """Returns `a and b`."""
    a, b = condition(a), condition(b)
    if a.truth is not None:
        return b if a.truth else a
    if b.truth is not None:
        return a if b.truth else b
    return Value(f"{a.at(AND)} and {b.at(NOT)}", AND, "bool", a.cost + b.cost + 1)


def either(a: Value, b: Value) -> Value:
    """Returns `a or b`."""
    a, b = condition(a), condition(b)
    if a.truth is not None:
        return a if a.truth else b
    if b.truth is not None:
        return b if b.truth else a
    return Value(f"{a.at(OR)} or {b.at(AND)}", OR, "bool", a.cost + b.cost + 1)


def invert(a: Value) -> Value:
    """Returns `not a`."""
    a = condition(a)
    if a.truth is not None:
        return truth(not a.truth)
    return Value(f"not {a.at(NOT)}", NOT, "bool", a.cost + 1)


def select(choice: Value, a: Value, b: Value) -> Value:
    """Returns `a if choice else b`."""
    choice = condition(choice)
    if choice.truth is not None:
        return a if choice.truth else b
    if a.kind == b.kind == "bool":
        return either(both(choice, a), both(invert(choice), b))
    a, b = real(a), real(b)
    text = f"{a.at(OR)} if {choice.at(OR)} else {b.text}"
    cost, finite = a.cost + b.cost + choice.cost + 1, a.finite and b.finite
    return Value(text, IF, _kind(a, b), cost, finite=finite, branches=(choice, a, b))
