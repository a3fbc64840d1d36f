"""Expressions of host functions: read once, computed on demand."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from ..trace.errors import Untraceable
from .cuda_integers import INTEGERS, TYPING, common, integer, literal, typing_only
from .cuda_macros import Token, closing
from .cuda_source import split
from .cuda_values import FLOAT_MAX, IGNORED, TYPES, Dim3, Pointer, call_function, call_method, computed, converted, error_of, not_null, truth

Thunk = Callable[[], Any]

_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_CASTS = {"float", "double", "bool", "scalar_t", *INTEGERS}
_CONVERSIONS = frozenset(["static_cast", "reinterpret_cast", "const_cast"])
_CHECKS = frozenset(["TORCH_CHECK", "AT_ASSERTM", "TORCH_INTERNAL_ASSERT", "AT_ASSERT", "assert"])
_EFFECTS = frozenset(["++", "--", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "<<<"])


def template_end(words: Sequence[Token], at: int) -> Optional[int]:
    """Returns the end of the template arguments that begin here, or `None` if this is a comparison."""
    depth = 0
    for place in range(at, len(words)):
        text = words[place].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return place
        elif words[place].kind == "sign" and text not in ("::", ",", "*", "&"):
            return None
    return None


class Expression:
    """Reads an expression and returns a function that computes its value, so that only the branch taken is computed."""

    def __init__(self, frame: Any, words: tuple[Token, ...]):
        self.frame, self.words, self.at = frame, words, 0

    def text(self) -> str:
        return self.words[self.at].text if self.at < len(self.words) else ""

    def take(self, text: str) -> bool:
        if self.text() != text:
            return False
        self.at += 1
        return True

    def ternary(self) -> Thunk:
        test = self.level(0)
        if not self.take("?"):
            return test
        yes = self.ternary()
        if not self.take(":"):
            raise self.frame.refuse("a condition without `:`")
        no = self.ternary()
        return lambda: _chosen(test(), yes, no)

    def level(self, number: int) -> Thunk:
        if number == len(_LEVELS):
            return self.unary()
        left = self.level(number + 1)
        while self.text() in _LEVELS[number] and self.words[self.at].kind == "sign":
            sign = self.text()
            self.at += 1
            left = _combined(sign, left, self.level(number + 1))
        return left

    def unary(self) -> Thunk:
        if self.take("-"):
            minus = self.unary()
            return lambda: _negated(minus())
        if self.take("+"):
            same = self.unary()
            return lambda: binary("+", integer(0, "int"), same())
        if self.take("!"):
            negated = self.unary()
            return lambda: not truth(negated())
        if self.text() == "(":
            cast = self.cast()
            if cast is not None:
                return cast
        return self.postfix(self.primary())

    def cast(self) -> Optional[Thunk]:
        """Reads `(float)x`."""
        close = closing(self.words, self.at)
        inside = [one.text for one in self.words[self.at + 1 : close]]
        kind = " ".join(one for one in inside if one != "const")
        behind = self.words[close + 1] if close + 1 < len(self.words) else None
        if not inside or behind is None or (behind.kind == "sign" and behind.text != "("):
            return None
        if kind.rstrip(" *") not in _CASTS:
            return None
        self.at = close + 1
        value = self.unary()
        return lambda: converted(kind, value(), self.frame.scope)

    def arguments(self) -> list[Thunk]:
        close = closing(self.words, self.at)
        parts = split(self.words[self.at + 1 : close])
        self.at = close + 1
        return [lambda part=part: self.frame.value_of(part) for part in parts]  # type: ignore[misc]

    def primary(self) -> Thunk:
        if self.at >= len(self.words):
            raise self.frame.refuse("an expression without an end")
        word = self.words[self.at]
        if word.kind == "number":
            self.at += 1
            number = _number(word.text)
            return lambda: number
        if word.kind == "string" and not word.text.startswith("'"):
            self.at += 1
            return lambda: word.text[1:-1]
        if self.take("("):
            inside = self.ternary()
            if not self.take(")"):
                raise self.frame.refuse("an expression")
            return inside
        if word.text == "{":
            values = self.arguments()
            return lambda: [value() for value in values]
        if word.kind != "name":
            raise self.frame.refuse(f"`{word.text}`")
        return self.named()

    def named(self) -> Thunk:
        name = self.text()
        self.at += 1
        while self.text() == "::":
            name += "::" + self.words[self.at + 1].text
            self.at += 2
        template: tuple[Token, ...] = ()
        if self.text() == "<":
            close = template_end(self.words, self.at)
            if close is not None and close + 1 < len(self.words) and self.words[close + 1].text in ("(", "{"):
                template = self.words[self.at + 1 : close]
                self.at = close + 1
        if self.text() == "(" or (self.text() == "{" and name == "dim3"):
            return self.called(name, template)
        return lambda: self.frame.known(name)

    def called(self, name: str, template: tuple[Token, ...]) -> Thunk:
        frame = self.frame
        own = name in frame.host.source.functions or name in frame.host.source.refused
        if own and (name in IGNORED or name in _CHECKS or name in _CONVERSIONS):
            raise frame.refuse(f"`{name}`, a function with the name of a library's,")
        if name == "sizeof":
            close = closing(self.words, self.at)
            inside = self.words[self.at + 1 : close]
            self.at = close + 1
            return lambda: _size(inside, frame.scope)
        if name in IGNORED:
            return self.ignored(name)
        values = self.arguments()
        kind = " ".join(one.text for one in template)
        if name in _CONVERSIONS:
            return lambda: converted(kind, _only(values, name)(), frame.scope)
        if name in _CHECKS:
            return lambda: _require(values[0](), frame)
        if own:
            return lambda: frame.host.call(name, [value() for value in values], bool(template))
        return lambda: call_function(name, kind, [value() for value in values])

    def ignored(self, name: str) -> Thunk:
        """Reads a call that does not affect the comparison. Its arguments must not do so either."""
        close = closing(self.words, self.at)
        inside = self.words[self.at + 1 : close]
        self.at = close + 1
        if name.endswith("_CHECK") and inside:
            return lambda: self.frame.value_of(inside)
        called = {one.text for one in inside} & ({*self.frame.host.source.functions} | _EFFECTS)
        if called:
            raise self.frame.refuse(f"`{called.pop()}` in the arguments of `{name}`")
        if name == "cudaFuncSetAttribute":
            return self.allowance(split(inside))
        # What the call stores is not known.
        changed = [part[1:] for part in split(inside) if part[0].text == "&"]

        def run() -> int:
            for part in changed:
                self.frame.unset(part)
            return 0

        return run

    def allowance(self, parts: list[list[Token]]) -> Thunk:
        """Reads an attribute of a kernel: the bytes of shared memory that its launches may have."""
        frame = self.frame
        if len(parts) != 3:
            raise frame.refuse("`cudaFuncSetAttribute`")
        names = [n for n, one in enumerate(parts[0]) if one.text in frame.host.kernels]
        begin = names[0] if len(names) == 1 else len(parts[0])
        close = template_end(parts[0], begin + 1) if [one.text for one in parts[0][begin + 1 : begin + 2]] == ["<"] else begin
        called = "".join(one.text for one in parts[0][begin : begin if close is None else close + 1])
        is_size = parts[1][-1].text == "cudaFuncAttributeMaxDynamicSharedMemorySize"

        def run() -> int:
            size = converted("int", frame.value_of(parts[2]))
            if is_size and called:
                frame.host.allowed[called] = int(size)
            return 0

        return run

    def postfix(self, value: Thunk) -> Thunk:
        while self.text() in (".", "->", "["):
            if self.take("["):
                index = self.ternary()
                if not self.take("]"):
                    raise self.frame.refuse("an index")
                value = _element(value, index)
                continue
            self.at += 1
            name = self.text()
            self.at += 1
            template: tuple[Token, ...] = ()
            if self.text() == "<":
                close = template_end(self.words, self.at)
                if close is not None and close + 1 < len(self.words) and self.words[close + 1].text == "(":
                    template = self.words[self.at + 1 : close]
                    self.at = close + 1
            if self.text() == "(":
                value = self.method(value, name, template, self.arguments())
            else:
                value = _member(value, name)
        return value

    def method(self, value: Thunk, name: str, template: tuple[Token, ...], values: list[Thunk]) -> Thunk:
        frame = self.frame

        def run() -> Any:
            kind = frame.type_or_value([one for one in template if one.text != "const"]) if template else None
            return call_method(value(), name, kind, [one() for one in values])

        return run


def _combined(sign: str, left: Thunk, right: Thunk) -> Thunk:
    if sign == "&&":
        return lambda: truth(left()) and truth(right())
    if sign == "||":
        return lambda: truth(left()) or truth(right())
    return lambda: binary(sign, left(), right())


def _only(values: Sequence[Thunk], name: str) -> Thunk:
    if len(values) != 1:
        raise Untraceable(f"`{name}` of {len(values)} values in a host function")
    return values[0]


def _chosen(test: Any, yes: Thunk, no: Thunk) -> Any:
    """Returns the value of `test ? yes : no`, in the type that both have in common."""
    taken, other = (yes, no) if truth(test) else (no, yes)
    value = taken()
    if not isinstance(value, (int, float)):
        return value
    with typing_only():
        sample = other()
    if not isinstance(sample, (int, float)):
        raise Untraceable("a condition of a number and something else in a host function")
    if isinstance(value, float) or isinstance(sample, float):
        return computed(float(value), error_of(value))
    if isinstance(value, bool) and isinstance(sample, bool):
        return value
    return integer(int(value), common(value, sample))


_SIMPLE: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def binary(sign: str, left: Any, right: Any) -> Any:
    """Computes an operation of C++. Integers are computed in the type that C++ computes in."""
    if isinstance(left, Pointer) or isinstance(right, Pointer):
        address, other = (left, right) if isinstance(left, Pointer) else (right, left)
        if sign in ("==", "!=") and isinstance(other, int) and other == 0 and not_null(address):
            return sign == "!="
        raise Untraceable("arithmetic on an address in a host function", "give the kernel and its launch to warpproof.verify")
    if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
        if sign not in "+-*/" or not all(isinstance(one, (int, float, torch.Tensor)) for one in (left, right)):
            raise Untraceable(f"`{sign}` of a tensor in a host function")
        left, right = (int(one) if isinstance(one, int) else one for one in (left, right))
        compute: Mapping[str, Callable[..., Any]] = {"+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div}
        return compute[sign](left, right)
    if isinstance(left, int) and isinstance(right, int):
        return _of_integers(sign, left, right)
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _of_floats(sign, left, right)
    if sign in ("==", "!=") and type(left) is type(right):
        return (left == right) is (sign == "==")
    raise Untraceable(f"`{sign}` of {type(left).__name__} and {type(right).__name__} in a host function")


def _of_integers(sign: str, left: int, right: int) -> Any:
    is_shift = sign in ("<<", ">>")
    kind = common(left) if is_shift else common(left, right)
    left, right = int(integer(int(left), kind)), int(right) if is_shift else int(integer(int(right), kind))
    if sign in _COMPARISONS:
        return _COMPARISONS[sign](left, right)
    if is_shift and not 0 <= right < INTEGERS[kind][0] or sign in ("/", "%") and right == 0:
        if TYPING.get():
            return integer(1, kind)
        raise Untraceable(f"{'a shift by ' + str(right) if is_shift else 'a division by zero'} in a host function")
    if sign in ("/", "%"):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return integer(quotient if sign == "/" else left - right * quotient, kind)
    return integer(_SIMPLE[sign](left, right), kind)


def _of_floats(sign: str, left: Any, right: Any) -> Any:
    left, right = (computed(float(one), error_of(one)) for one in (left, right))
    first, second = error_of(left), error_of(right)
    if sign in _COMPARISONS:
        if (first or second) and abs(left - right) <= first + second and not TYPING.get():
            raise Untraceable(f"`{left} {sign} {right}` in a host function depends on rounding")
        return _COMPARISONS[sign](left, right)
    if sign not in ("+", "-", "*", "/"):
        raise Untraceable(f"`{sign}` of floats in a host function")
    if sign == "/" and abs(right) <= second:
        if TYPING.get():
            return 1.0
        raise Untraceable("a division by zero in a host function")
    result = float(left) / float(right) if sign == "/" else _SIMPLE[sign](float(left), float(right))
    if abs(result) > FLOAT_MAX and math.isfinite(left) and math.isfinite(right) and not TYPING.get():
        raise Untraceable(f"`{left} {sign} {right}` in a host function, which `float` does not have")
    if sign in ("+", "-"):
        return computed(result, first + second)
    if sign == "*":
        return computed(result, abs(left) * second + abs(right) * first + first * second)
    return computed(result, (first + abs(result) * second) / (abs(right) - second))


def _negated(value: Any) -> Any:
    return computed(-float(value), error_of(value)) if isinstance(value, float) else binary("-", integer(0, "int"), value)


def _number(text: str) -> Any:
    digits = text.rstrip("uUlL")
    if digits[:2].lower() == "0x" or digits.isdigit():
        return literal(digits, text[len(digits) :])
    return computed(float(digits[:-1] if digits[-1] in "fF" else digits))


def _size(words: Sequence[Token], scope: Mapping[str, Any]) -> int:
    """Returns the size of a type. A variable with an element type has a size of its own."""
    name = " ".join(one.text for one in words)
    kind = scope.get(name) if name == "scalar_t" else TYPES.get(name)
    if isinstance(kind, torch.dtype):
        return integer(kind.itemsize, "size_t")
    raise Untraceable(f"the size of `{name}` in a host function")


def _require(value: Any, frame: Any) -> int:
    if not truth(value):
        raise Untraceable(f"a check of the host function `{frame.function.name}` fails for these arguments")
    return 0


def _element(value: Thunk, index: Thunk) -> Thunk:
    def run() -> Any:
        found, at = value(), index()
        if isinstance(found, (list, tuple)) and isinstance(at, int) and 0 <= at < len(found):
            return found[at]
        if isinstance(found, (list, tuple)) and found and TYPING.get():
            return found[0]
        if isinstance(found, torch.Tensor):
            return found.select(0, int(at))
        raise Untraceable("an element of something that is not a list in a host function")

    return run


def _member(value: Thunk, name: str) -> Thunk:
    def run() -> Any:
        found = value()
        if isinstance(found, Dim3) and name in ("x", "y", "z"):
            return converted("unsigned", getattr(found, name))
        raise Untraceable(f"`.{name}` in a host function")

    return run
