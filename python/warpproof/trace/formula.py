"""Builds the text of a formula: inputs, `let` definitions, outputs, fresh names.

A `Tensor` is a shape, a kind and a function from indices to the expression of an element. Views only change the
indices. Expressions are written in place while they are cheap. Above `LIMIT` operations they become a `let`, so that
nothing is computed twice and the text does not grow exponentially. Every index of a `let` and of a reduction states
its range. Unused definitions are dropped at the end.

An element access outside its tensor is a bug of a template, and is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

from . import index, value, wrapping
from .errors import Untraceable
from .index import Ix
from .traced import Traced
from .value import Value

LIMIT = 12

_LETTERS = "ijklrsuvpqgo"  # not `m`, `n`, `x`, …: kernels have arguments of these names, which are in scope in a formula
_WORDS = """let in if else and or not pi inf log2e ln2 e f16 f32 f64 bf16 tf32
sum prod max min mean count any all argmax argmin size
exp exp2 log log2 log1p expm1 sqrt rsqrt abs sign tanh erf sin cos sigmoid relu floor ceil trunc round clamp"""
RESERVED = frozenset(_WORDS.split())

Shape = tuple[int, ...]
Element = Callable[[Sequence[Ix]], Value]


def kind_of(dtype: str) -> str:
    """Returns "real", "int" or "bool" for an element type such as "f32", "s64" or "bool"."""
    if dtype in ("bool", "b1"):
        return "bool"
    return "int" if dtype[0] in "su" and dtype[1:].isdigit() else "real"


def count(shape: Iterable[int]) -> int:
    """Returns the number of elements of a shape."""
    product = 1
    for extent in shape:
        product *= extent
    return product


@dataclass(frozen=True)
class Tensor:
    """An array of expressions."""

    shape: Shape
    dtype: str
    element: Element
    cost: int
    name: Optional[str] = None  # of the input or `let` this is, unchanged
    loose: bool = False  # the expressions are right only modulo the size of the type, see `wrapping`

    @property
    def kind(self) -> str:
        """The kind of the elements."""
        return kind_of(self.dtype)

    def at(self, indices: Sequence[Ix]) -> Value:
        """Returns the expression of an element."""
        if len(indices) != len(self.shape):
            raise AssertionError(f"{len(indices)} indices for {self.shape}")
        found = self.element(indices)
        return wrapping.wrapped(found, self.dtype) if self.loose else found


@dataclass
class Definition:
    """One line of a formula."""

    name: str
    indices: list[tuple[str, int]]
    body: str
    output: bool = False

    def text(self) -> str:
        """Writes the line."""
        if self.output:
            inside = ",".join(name for name, _ in self.indices)
        else:
            inside = ", ".join(f"{name} in 0..{extent}" for name, extent in self.indices)
        head = f"{self.name}[{inside}]" if self.indices else self.name
        return f"{'' if self.output else 'let '}{head} = {self.body}"


@dataclass
class Builder:
    """A formula under construction."""

    definitions: list[Definition] = field(default_factory=list)
    inputs: list[tuple[str, str, Shape]] = field(default_factory=list)
    outputs: list[tuple[str, str, Shape]] = field(default_factory=list)
    lines: dict[str, str] = field(default_factory=dict)
    line: Optional[str] = None
    contents: dict[str, Any] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)  # outputs that are right only for a store of their type
    _names: set[str] = field(default_factory=set)
    _in_use: set[str] = field(default_factory=set)
    _reserved: set[str] = field(default_factory=set)

    def fresh(self, hint: str) -> str:
        """Reserves a name for a tensor."""
        base = re.sub(r"\W+", "_", hint).strip("_") or "t"
        base = "t" + base if base[0].isdigit() else base
        name, n = base, 1
        while name in self._names or name in RESERVED or (len(name) == 1 and name != hint):
            name, n = f"{base}_{n}", n + 1
        self._names.add(name)
        return name

    def reserve(self, name: str) -> None:
        """Keeps a name for an output."""
        if name in self._names or name in RESERVED or not name.isidentifier():
            raise ValueError(f"`{name}` cannot name an output of a formula")
        self._names.add(name)
        self._reserved.add(name)

    def avoid(self, names: Iterable[str]) -> None:
        """Keeps names free of indices and definitions: the names of the kernel's other arguments."""
        self._names.update(names)

    def index(self, lo: int, hi: int) -> Ix:
        """Returns a new index of the current definition, over `lo..hi`."""
        for name in (*_LETTERS, *(f"i{n}" for n in range(1, 100))):
            if name not in self._names and name not in self._in_use:
                self._in_use.add(name)
                return index.variable(name, lo, hi)
        raise Untraceable("more than 100 indices in one definition")

    def input(self, name: str, dtype: str, shape: Sequence[int], *, named: bool = False) -> Tensor:
        """Declares an input; `named` keeps the name as it is."""
        if not named:
            name = self.fresh(name)
        elif name in self._reserved:
            self._reserved.remove(name)
        elif name in self._names or name in RESERVED or not name.isidentifier():
            raise ValueError(f"`{name}` cannot name a tensor of a formula")
        self._names.add(name)
        self.inputs.append((name, dtype, tuple(shape)))
        return self.leaf(name, dtype, shape)

    def leaf(self, name: str, dtype: str, shape: Sequence[int], finite: bool = True) -> Tensor:
        """Returns the tensor with a name. `finite` means that no element is an infinity."""
        extents = tuple(shape)
        kind = kind_of(dtype)

        def element(indices: Sequence[Ix]) -> Value:
            for ix, extent in zip(indices, extents):
                known = ix.lo is not None and ix.hi is not None
                if known and not ix.within(0, extent):
                    raise AssertionError(f"{name}{list(extents)} at {index.show(ix)}, {ix.lo}..={ix.hi}")
            return read(name, kind, indices, finite=finite)

        return Tensor(extents, dtype, element, 1, name)

    def let(self, tensor: Tensor, hint: str = "t") -> Tensor:
        """Keeps a tensor in a definition of its own, unless it has one."""
        if tensor.name is not None or tensor.cost == 0:
            return tensor
        indices, body = self.body(tensor)
        name = self.fresh(hint)
        self._define(Definition(name, _named(indices), body.text))
        return replace(self.leaf(name, tensor.dtype, tensor.shape, body.finite), loose=tensor.loose)

    def body(self, tensor: Tensor) -> tuple[list[Ix], Value]:
        """Returns new indices for a tensor's axes and the element there, a number, for a store of the tensor's type."""
        self._in_use = set()
        indices = [self.index(0, extent) for extent in tensor.shape]
        return indices, value.real(tensor.element(indices))

    def reduction(
        self, hint: str, shape: Shape, dtype: str, make: Callable[[list[Ix]], Value], closed: bool = False
    ) -> Tensor:
        """Keeps a tensor whose elements are written by `make`, which may take new indices.

        `closed` means that integers cannot leave their type.
        """
        self._in_use = set()
        indices = [self.index(0, extent) for extent in shape]
        body = value.real(make(indices))
        name = self.fresh(hint)
        self._define(Definition(name, _named(indices), body.text))
        loose = kind_of(dtype) == "int" and not closed and not wrapping.fits(body, dtype)
        return replace(self.leaf(name, dtype, shape, body.finite), loose=loose)

    def tensor(
        self, shape: Sequence[int], dtype: str, element: Element, hint: str = "t", closed: bool = True
    ) -> Tensor:
        """Makes a tensor of an element function; expensive ones are kept in a `let`.

        `closed` means that integers cannot leave their type.
        """
        extents = tuple(shape)
        self._in_use = set()
        probe = element([self.index(0, extent) for extent in extents])
        loose = kind_of(dtype) == "int" and not closed and not wrapping.fits(probe, dtype)
        made = Tensor(extents, dtype, element, probe.cost, loose=loose)
        return self.let(made, hint) if probe.cost > LIMIT else made

    def output(self, name: str, tensor: Tensor) -> str:
        """Defines an output; the name is kept if no other tensor has it."""
        if name in self._reserved:
            self._reserved.remove(name)
        elif name in self._names or name in RESERVED or not name.isidentifier():
            name = self.fresh(name)
        self._names.add(name)
        indices, body = self.body(tensor)
        self._define(Definition(name, _named(indices), body.text, output=True))
        if tensor.loose:
            self.loose.add(name)
        self.outputs.append((name, tensor.dtype, tensor.shape))
        return name

    def text(self) -> str:
        """Writes the formula: the definitions needed by the outputs, in order."""
        needed = self._needed()
        _fold_copies(needed)
        return "\n".join(definition.text() for definition in needed)

    def traced(self, weights: Mapping[str, str], notes: Sequence[str] = ()) -> Traced:
        """Returns the result. Parameters and constants not mentioned in the formula are left out."""
        text = self.text()
        optional = set(weights) | set(self.contents)
        used = {name for name, _, _ in self.inputs if name not in optional or re.search(rf"\b{name}\b", text)}
        defined = re.findall(r"^(?:let )?(\w+)", text, re.M)
        return Traced(
            text,
            [one for one in self.inputs if one[0] in used],
            self.outputs,
            {name: self.lines[name] for name in defined if name in self.lines},
            {name: path for name, path in {**{n: n for n in self.contents}, **weights}.items() if name in used},
            {name: array for name, array in self.contents.items() if name in used},
            list(notes),
            frozenset(self.loose),
        )

    def _define(self, definition: Definition) -> None:
        if re.search(rf"\b{value.NAN}\b", definition.body):
            raise Untraceable("NaN, which is not a real number")
        self.definitions.append(definition)
        if self.line:
            self.lines[definition.name] = self.line

    def _needed(self) -> list[Definition]:
        wanted: set[str] = set()
        kept = []
        for definition in reversed(self.definitions):
            if definition.output or definition.name in wanted:
                kept.append(Definition(definition.name, definition.indices, definition.body, definition.output))
                wanted.update(re.findall(r"[A-Za-z_]\w*", definition.body))
        return kept[::-1]


def read(name: str, kind: str, indices: Sequence[Ix], outside: Optional[Value] = None, finite: bool = True) -> Value:
    """Writes the element of a named tensor; `outside` is its value beyond the edges."""
    inside = ",".join(index.show(ix) for ix in indices)
    if outside is not None:
        inside += f" else {outside.at(value.SUM)}"
    text = f"{name}[{inside}]" if indices else name
    if kind == "bool":
        return Value(f"{text} != 0", value.COMPARE, "bool", 2)
    return Value(text, value.PRIMARY, kind, 1, finite=finite and (outside is None or outside.finite))


def _named(indices: Sequence[Ix]) -> list[tuple[str, int]]:
    pairs = []
    for ix in indices:
        atom = ix.terms[0][0]
        assert isinstance(atom, index.Var)
        pairs.append((atom.name, atom.hi + 1))
    return pairs


def _fold_copies(definitions: list[Definition]) -> None:
    """Lets an output that only copies a `let` replace it."""
    for output in [d for d in definitions if d.output]:
        names = [name for name, _ in output.indices]
        for kept in definitions:
            whole = f"{kept.name}[{','.join(names)}]" if names else kept.name
            if kept.output or output.body != whole or [n for _, n in kept.indices] != [n for _, n in output.indices]:
                continue
            if sum(len(re.findall(rf"\b{kept.name}\b", d.body)) for d in definitions) == 1:
                kept.name, kept.output = output.name, True
                definitions.remove(output)
            break
