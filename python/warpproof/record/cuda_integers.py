"""Integers of C++: a value with its type. Integers that leave the range of their type are refused."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Any, Iterator

from ..trace.errors import Untraceable

#: Types by name: bits, and `True` for signed ones.
INTEGERS: dict[str, tuple[int, bool]] = {
    "char": (8, True), "signed char": (8, True), "int8_t": (8, True), "unsigned char": (8, False), "uint8_t": (8, False),
    "short": (16, True), "short int": (16, True), "int16_t": (16, True), "unsigned short": (16, False), "uint16_t": (16, False),
    "int": (32, True), "signed": (32, True), "signed int": (32, True), "int32_t": (32, True),
    "unsigned": (32, False), "unsigned int": (32, False), "uint32_t": (32, False), "uint": (32, False),
    "long": (64, True), "long int": (64, True), "long long": (64, True), "long long int": (64, True), "int64_t": (64, True),
    "ptrdiff_t": (64, True), "size_t": (64, False), "uint64_t": (64, False), "unsigned long": (64, False),
    "unsigned long int": (64, False), "unsigned long long": (64, False), "unsigned long long int": (64, False),
}  # fmt: skip
_NAMES = {(8, True): "int8_t", (8, False): "uint8_t", (16, True): "int16_t", (16, False): "uint16_t",
          (32, True): "int", (32, False): "unsigned", (64, True): "int64_t", (64, False): "size_t"}  # fmt: skip
#: Set while only the type of an expression is asked for: errors of its value do not count.
TYPING: ContextVar[bool] = ContextVar("typing", default=False)


class Integer(int):
    """An integer of a type. An `int` of Python is an `int64_t`: sizes of tensors are."""

    bits: int
    signed: bool


@contextlib.contextmanager
def typing_only() -> Iterator[None]:
    """Asks only for types."""
    token = TYPING.set(True)
    try:
        yield
    finally:
        TYPING.reset(token)


def integer(value: int, name: str) -> Integer:
    """Returns an integer of a type, and refuses one outside of its range."""
    bits, signed = INTEGERS[name]
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if not low <= value < high:
        if not TYPING.get():
            raise Untraceable(f"{int(value)} does not fit into `{name}` of a host function")
        value = 1
    made = Integer(value)
    made.bits, made.signed = bits, signed
    return made


def type_of(value: int) -> str:
    """Returns the name of an integer's type."""
    if isinstance(value, bool):
        return "bool"
    return _NAMES[value.bits, value.signed] if isinstance(value, Integer) else "int64_t"


def common(*values: int) -> str:
    """Returns the type that C++ computes in: nothing smaller than `int`, then the wider one, then the unsigned one."""
    kinds = [INTEGERS["int" if isinstance(value, bool) else type_of(value)] for value in values]
    promoted = [kind if kind[0] >= 32 else (32, True) for kind in kinds]
    bits = max(kind[0] for kind in promoted)
    return _NAMES[bits, all(signed for wide, signed in promoted if wide == bits)]


def literal(digits: str, suffix: str) -> Integer:
    """Returns the integer of a literal: of the first type that it fits into."""
    is_decimal = digits == "0" or digits[0] != "0"
    value = int(digits, 10 if is_decimal else 16 if digits[1:2] in ("x", "X") else 8)
    is_unsigned, is_long = "u" in suffix.lower(), "l" in suffix.lower()
    kinds = ["int", "unsigned", "int64_t", "size_t"]
    kinds = [kind for kind in kinds if (kind in ("int64_t", "size_t") or not is_long) and (kind in ("unsigned", "size_t") or not is_unsigned)]
    if is_decimal and not is_unsigned:
        kinds = [kind for kind in kinds if kind in ("int", "int64_t")]
    fits = [kind for kind in kinds if value < 1 << INTEGERS[kind][0] - INTEGERS[kind][1]]
    return integer(value, fits[0] if fits else kinds[-1])


def plain(value: Any) -> Any:
    """Returns a number as Python has it, for torch."""
    if isinstance(value, Integer):
        return int(value)
    return [plain(one) for one in value] if isinstance(value, list) else value
