"""Integer index expressions with ranges, simplified while they are built.

An `Ix` is `const + sum of coefficient * atom`; an atom is an index variable, a rounded-down quotient, a remainder, or
an element of an integer tensor. Views (reshape, slice, flip, …) are maps from lists of `Ix` to lists of `Ix`, so
chains of views collapse: `x.view(6).view(2, 3)[i, j]` is `x[i, j]` again.

Ranges are conservative: a range may be wider than the values taken, never narrower. Only `assume` narrows one, under
a condition that its caller writes into the formula. Too wide a range costs a longer text, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union


@dataclass(frozen=True)
class Var:
    """An index of a definition or a reduction."""

    name: str
    lo: int
    hi: int


@dataclass(frozen=True)
class Div:
    """`body // by`, rounded down."""

    body: "Ix"
    by: int


@dataclass(frozen=True)
class Mod:
    """`body % by`, at least 0."""

    body: "Ix"
    by: int


@dataclass(frozen=True)
class Data:
    """An integer element of a tensor, as text. Its range is unknown."""

    text: str


Atom = Union[Var, Div, Mod, Data]
Bound = Optional[int]


@dataclass(frozen=True)
class Ix:
    """`const + sum(coefficient * atom)`, with the range `lo..=hi` of its values (`None`: unbounded)."""

    const: int
    terms: tuple[tuple[Atom, int], ...]
    lo: Bound
    hi: Bound

    def __add__(self, other: "Ix | int") -> "Ix":
        if isinstance(other, int):
            other = number(other)
        sums = dict(self.terms)
        for atom, factor in other.terms:
            sums[atom] = sums.get(atom, 0) + factor
        return _made(self.const + other.const, _recombined(sums), _add(self.lo, other.lo), _add(self.hi, other.hi))

    def __sub__(self, other: "Ix | int") -> "Ix":
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> "Ix":
        if factor == 0:
            return number(0)
        ends = [None if b is None else b * factor for b in (self.lo, self.hi)]
        lo, hi = ends if factor > 0 else ends[::-1]
        return Ix(self.const * factor, tuple((a, c * factor) for a, c in self.terms), lo, hi)

    def __floordiv__(self, by: int) -> "Ix":
        return _floordiv(self, by)

    def __mod__(self, by: int) -> "Ix":
        return _mod(self, by)

    @property
    def constant(self) -> Optional[int]:
        """The value, if this is a constant."""
        if not self.terms:
            return self.const
        return self.lo if self.lo is not None and self.lo == self.hi else None

    def assume(self, lo: int, hi: int) -> "Ix":
        """Narrows the range to `lo..=hi`, for use under a condition that implies it."""
        return Ix(self.const, self.terms, _highest(self.lo, lo), _lowest(self.hi, hi))

    def within(self, lo: int, hi: int) -> bool:
        """Returns `True` if every value is in `lo..hi` (`hi` excluded)."""
        return self.lo is not None and self.hi is not None and lo <= self.lo and self.hi < hi

    def is_var(self) -> bool:
        """Returns `True` if this is one variable and nothing else."""
        return self.const == 0 and len(self.terms) == 1 and self.terms[0][1] == 1 and isinstance(self.terms[0][0], Var)


def number(value: int) -> Ix:
    """Returns a constant."""
    return Ix(value, (), value, value)


def variable(name: str, lo: int, hi: int) -> Ix:
    """Returns a variable over `lo..hi`, `hi` excluded."""
    return Ix(0, ((Var(name, lo, hi - 1), 1),), lo, hi - 1)


def data(text: str) -> Ix:
    """Returns an element of an integer tensor as an index."""
    return Ix(0, ((Data(text), 1),), None, None)


def _add(a: Bound, b: Bound) -> Bound:
    return None if a is None or b is None else a + b


def _highest(a: Bound, b: Bound) -> Bound:
    return b if a is None else a if b is None else max(a, b)


def _lowest(a: Bound, b: Bound) -> Bound:
    return b if a is None else a if b is None else min(a, b)


def _atom_range(atom: Atom) -> tuple[Bound, Bound]:
    if isinstance(atom, Var):
        return atom.lo, atom.hi
    if isinstance(atom, Mod):
        return 0, atom.by - 1
    if isinstance(atom, Div):
        ends = [None if b is None else b // atom.by for b in (atom.body.lo, atom.body.hi)]
        return ends[0], ends[1]
    return None, None


def _made(const: int, terms: dict[Atom, int], lo: Bound = None, hi: Bound = None) -> Ix:
    kept = tuple((a, c) for a, c in terms.items() if c)
    low: Bound = const
    high: Bound = const
    for atom, factor in kept:
        ends = [None if b is None else b * factor for b in _atom_range(atom)]
        if factor < 0:
            ends.reverse()
        low, high = _add(low, ends[0]), _add(high, ends[1])
    return Ix(const, kept, _highest(low, lo), _lowest(high, hi))


def _recombined(sums: dict[Atom, int]) -> dict[Atom, int]:
    """Replaces `c*(e % n) + c*n*(e // n)` by `c*e`."""
    for atom, factor in list(sums.items()):
        if not isinstance(atom, Mod) or not factor or sums.get(atom) != factor:
            continue
        quotient = _floordiv(atom.body, atom.by) * (factor * atom.by)
        if quotient.const or not quotient.terms or any(sums.get(a) != c for a, c in quotient.terms):
            continue
        if atom.body.const:
            continue
        for part, _ in quotient.terms:
            del sums[part]
        del sums[atom]
        for part, coefficient in atom.body.terms:
            sums[part] = sums.get(part, 0) + coefficient * factor
        return _recombined(sums)
    return sums


def _floordiv(e: Ix, by: int) -> Ix:
    if by == 1:
        return e
    if e.lo is not None and e.hi is not None and e.lo // by == e.hi // by:
        return number(e.lo // by)
    whole = _made(e.const // by, {a: c // by for a, c in e.terms if c % by == 0})
    rest = _made(e.const % by, {a: c for a, c in e.terms if c % by})
    if not whole.terms and not whole.const:
        rest = e
    if rest.within(0, by):
        return whole
    return whole + _quotient(rest, by)


def _quotient(rest: Ix, by: int) -> Ix:
    if rest.const == 0 and len(rest.terms) == 1 and rest.terms[0][1] == 1:
        atom = rest.terms[0][0]
        if isinstance(atom, Div):
            return _floordiv(atom.body, atom.by * by)
        if isinstance(atom, Mod) and atom.by % by == 0:
            return _mod(_floordiv(atom.body, by), atom.by // by)
    return _made(0, {Div(rest, by): 1})


def _mod(e: Ix, by: int) -> Ix:
    if by == 1:
        return number(0)
    if e.lo is not None and e.hi is not None and e.lo // by == e.hi // by:
        return e - by * (e.lo // by)
    rest = _made(e.const % by, {a: c % by for a, c in e.terms})
    if rest.within(0, by):
        return rest
    if rest.const == 0 and len(rest.terms) == 1 and rest.terms[0][1] == 1:
        atom = rest.terms[0][0]
        if isinstance(atom, Mod) and atom.by % by == 0:
            return _mod(atom.body, by)
    if rest.const == e.const and rest.terms == e.terms:
        rest = e
    return _made(0, {Mod(rest, by): 1})


def show(e: Ix) -> str:
    """Writes an index in the grammar of formulas, at the level of a sum."""
    text = ""
    for atom, factor in sorted(e.terms, key=lambda t: t[1] < 0):
        if factor < 0 and not text and e.const > 0:
            text = str(e.const)
        sign = " - " if factor < 0 else " + "
        text += (sign if text else "-" if factor < 0 else "") + _term(atom, abs(factor))
    if not text:
        return str(e.const)
    if e.const > 0 and not text.startswith(f"{e.const} - "):
        return f"{text} + {e.const}"
    return f"{text} - {-e.const}" if e.const < 0 else text


def is_simple(e: Ix) -> bool:
    """Returns `True` if `show` gives a primary: a name, an element, or a number of at least 0."""
    if not e.terms:
        return e.const >= 0
    return e.const == 0 and len(e.terms) == 1 and e.terms[0][1] == 1 and isinstance(e.terms[0][0], (Var, Data))


def _term(atom: Atom, factor: int) -> str:
    if isinstance(atom, Var):
        text = atom.name
    elif isinstance(atom, Data):
        text = atom.text
    else:
        body = show(atom.body)
        body = body if is_simple(atom.body) else f"({body})"
        text = f"{body} {'//' if isinstance(atom, Div) else '%'} {atom.by}"
        text = f"({text})" if factor != 1 else text
    return text if factor == 1 else f"{factor}*{text}"
