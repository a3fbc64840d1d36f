"""Reads formulas: tokens and a recursive-descent parser, for tests only.

Written from the grammar alone, as an independent check of the package's own reader. Nodes are tuples whose first
entry is their name.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional

Node = tuple[Any, ...]

REDUCTIONS = frozenset("sum prod max min mean count any all argmax argmin".split())
FUNCTIONS = frozenset(
    """exp exp2 log log2 log1p expm1 sqrt rsqrt abs sign tanh erf sin cos sigmoid relu floor ceil trunc round
    max min clamp f32""".split()
)
CONSTANTS = frozenset("pi inf log2e ln2".split())
KEYWORDS = frozenset("let in if else and or not".split())

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<mark>\.\.|//|<=|>=|==|!=|[-+*/%^<>()\[\],=;]))"
)


class Mistake(Exception):
    """A formula that breaks the grammar or its rules."""


class Index(NamedTuple):
    """An index of a definition or reduction. `lo` and `hi` are nodes or `None`."""

    name: str
    lo: Optional[Node]
    hi: Optional[Node]


class Definition(NamedTuple):
    """`let name[indices] = body`."""

    let: bool
    name: str
    indices: list[Index]
    body: Node


def tokens(text: str) -> list[str]:
    """Splits one definition into tokens."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise Mistake(f"cannot read {text[at:at + 20]!r}")
        found.append(match.group(match.lastgroup or 0))
        at = match.end()
    return found


def parse(text: str) -> list[Definition]:
    """Reads a formula."""
    lines = [line.split("#")[0] for line in text.splitlines()]
    parts = [part for line in lines for part in line.split(";") if part.strip()]
    return [_Parser(tokens(part)).definition() for part in parts]


class _Parser:
    def __init__(self, found: list[str]):
        self.found, self.at = found, 0

    def peek(self, ahead: int = 0) -> str:
        return self.found[self.at + ahead] if self.at + ahead < len(self.found) else ""

    def next(self) -> str:
        self.at += 1
        return self.peek(-1)

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise Mistake(f"`{token}` expected, not `{self.peek()}`")

    def name(self) -> str:
        name = self.next()
        if not name.isidentifier() or name in KEYWORDS | CONSTANTS:
            raise Mistake(f"`{name}` is not a name")
        return name

    def definition(self) -> Definition:
        let = self.accept("let")
        name = self.name()
        indices = []
        if self.accept("["):
            indices = [self.index()]
            while self.accept(","):
                indices.append(self.index())
            self.expect("]")
        self.expect("=")
        body = self.expr()
        if self.at != len(self.found):
            raise Mistake(f"`{self.peek()}` after the end")
        return Definition(let, name, indices, body)

    def index(self) -> Index:
        name = self.name()
        if not self.accept("in"):
            return Index(name, None, None)
        lo = self.sum()
        self.expect("..")
        return Index(name, lo, self.sum())

    def expr(self) -> Node:
        value = self.either()
        if not self.accept("if"):
            return value
        condition = self.either()
        return ("if", condition, value, self.expr() if self.accept("else") else None)

    def either(self) -> Node:
        left = self.both()
        while self.accept("or"):
            left = ("or", left, self.both())
        return left

    def both(self) -> Node:
        left = self.invert()
        while self.accept("and"):
            left = ("and", left, self.invert())
        return left

    def invert(self) -> Node:
        return ("not", self.invert()) if self.accept("not") else self.comparison()

    def comparison(self) -> Node:
        left = self.sum()
        links = []
        while self.peek() in ("<", "<=", ">", ">=", "==", "!="):
            operator = self.next()
            right = self.sum()
            links.append((operator, left, right))
            left = right
        return ("chain", links) if links else left

    def sum(self) -> Node:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = (self.next(), left, self.product())
        return left

    def product(self) -> Node:
        left = self.unary()
        while self.peek() in ("*", "/", "//", "%"):
            left = (self.next(), left, self.unary())
        return left

    def unary(self) -> Node:
        if self.accept("-"):
            return ("neg", self.unary())
        base = self.primary()
        return ("^", base, self.unary()) if self.accept("^") else base

    def primary(self) -> Node:
        token = self.peek()
        if token and (token[0].isdigit() or (token[0] == "." and token != "..")):
            self.next()
            whole = re.fullmatch(r"\d+", token)
            return ("number", int(token) if whole else float(token))
        if self.accept("("):
            inside = self.expr()
            self.expect(")")
            return inside
        if token in CONSTANTS:
            return ("constant", self.next())
        name = self.name()
        if self.accept("["):
            return self.element(name)
        if self.peek() == "(":
            return self.call(name)
        return ("name", name)

    def element(self, name: str) -> Node:
        places = [self.sum()]
        while self.accept(","):
            places.append(self.sum())
        outside = self.sum() if self.accept("else") else None
        self.expect("]")
        return ("element", name, places, outside)

    def call(self, name: str) -> Node:
        self.expect("(")
        start = self.at
        if name in REDUCTIONS:
            reduction = self.reduction(name)
            if reduction is not None:
                return reduction
            self.at = start
        if name not in FUNCTIONS:
            raise Mistake(f"`{name}` is not a function" if name not in REDUCTIONS else f"`{name}` of what?")
        arguments = [self.expr()]
        while self.accept(","):
            arguments.append(self.expr())
        self.expect(")")
        return ("call", name, arguments)

    def reduction(self, name: str) -> Optional[Node]:
        """Reads indices as long as names follow. The evaluator distinguishes new names from known ones."""
        indices = []
        while self.peek().isidentifier() and self.peek() not in KEYWORDS | CONSTANTS and self.peek(1) in (",", "in"):
            indices.append(self.index())
            self.expect(",")
        if not indices:
            return None
        body = self.expr()
        if self.peek() != ")":
            if name in FUNCTIONS:
                return None
            raise Mistake(f"`{name}` takes indices and then one expression")
        self.expect(")")
        return ("reduce", name, indices, body)
