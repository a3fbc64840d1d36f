"""CUDA C++ of a torch extension, split into kernels for the compiler and host functions for `cuda_host`.

The parts not compiled for the GPU are blanked line by line, so that findings have the line numbers of the original
text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterator, Optional

from ..trace.errors import Untraceable
from .cuda_macros import Token, Unit, blanked, closing, directives, expanded, tokens, without_comments

#: Words before a type that are no part of it.
_NO_PART = frozenset(
    "static inline const constexpr extern volatile __host__ __device__ __forceinline__ __noinline__ __inline__ __restrict__".split() + ['"C"']
)


@dataclass(frozen=True)
class Function:
    """A host function: its type, parameters as `(type, name)`, and the tokens of its body, braces included."""

    name: str
    kind: str
    parameters: tuple[tuple[str, str], ...]
    body: tuple[Token, ...]


@dataclass(frozen=True)
class Constant:
    """A constant outside of functions: its type, and the tokens of its value."""

    kind: str
    words: tuple[Token, ...]


@dataclass(frozen=True)
class KernelSource:
    """The signature of a kernel: types and names of parameters, and those of its template."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    template: tuple[str, ...]
    span: tuple[int, int]


@dataclass
class Source:
    """A text, split into its definitions."""

    device: str
    kernels: dict[str, KernelSource] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    #: Names of definitions that cannot be read, with the reason.
    refused: dict[str, str] = field(default_factory=dict)
    #: Names of macros.
    macros: frozenset[str] = frozenset()
    #: The reason why the compiler for the GPU may take the text for another one.
    unread: Optional[str] = None

    def refuse(self, name: str, reason: Optional[str]) -> None:
        """Refuses every use of a name."""
        if reason is not None:
            self.refused.setdefault(name, reason)

    def add_function(self, function: Function) -> None:
        """Adds a function of the host. Which of two functions of one name is called is not read."""
        if function.name in self.functions:
            self.refuse(function.name, "two functions of one name")
        self.functions[function.name] = function

    def add_constant(self, name: str, constant: Constant) -> None:
        """Adds a constant of the host."""
        if name in self.constants:
            self.refuse(name, "two constants of one name")
        self.constants[name] = constant

    def add(self, other: "Source") -> None:
        """Adds the definitions of another text for the host."""
        for name, reason in other.refused.items():
            self.refuse(name, reason)
        for function in other.functions.values():
            self.add_function(function)
        for name, constant in other.constants.items():
            self.add_constant(name, constant)


def split_source(text: str) -> Source:
    """Sorts the definitions of a text."""
    made = Source(text)
    bare = without_comments(text)
    unit = directives(bare)
    blank = list(unit.headers)
    hidden: set[str] = set()
    kept: set[str] = set()
    for item in _items(expanded(tokens(blanked(bare, unit.spans)), unit)):
        if _sort(item, made, unit):
            kept |= {one.text for one in item if one.kind == "name"}
        else:
            hidden |= _defined(item)
            blank.append((item[0].at, item[-1].stop))
    made.macros = frozenset([*unit.macros, *unit.refused])
    made.unread = unit.foreign_condition()
    # Another definition of the name may take its place.
    for name in sorted(hidden & kept):
        made.unread = made.unread or f"`{name}`, which the compiler for the GPU does not get,"
    made.device = blanked(text, blank)
    return made


def _defined(item: list[Token]) -> set[str]:
    """Returns the name of a constant, a type or a constant function. Other functions of the host are not called by kernels."""
    texts = [one.text for one in item]
    if texts[0] == "using" and texts[1:2] != ["namespace"]:
        return set(texts[1:2])
    if texts[0] == "typedef":
        return set(texts[-2:-1])
    if _is_function(item):
        # Kernels may call a constant function of the host.
        return {_function(item).name} if "constexpr" in texts and "PYBIND11_MODULE" not in texts else set()
    equals = texts.index("=") if "=" in texts else 0
    return set(texts[equals - 1 : equals]) if equals else set()


def _items(words: list[Token]) -> Iterator[list[Token]]:
    """Yields definitions. Those in namespaces are yielded one by one."""
    at = 0
    while at < len(words):
        opened = _namespace(words, at)
        if opened is not None:
            end = closing(words, opened)
            yield from _items(words[opened + 1 : end])
            at = end + 1
            continue
        begin = at
        while at < len(words) and words[at].text not in (";", "{"):
            at = closing(words, at) + 1 if words[at].text in "([" else at + 1
        if at < len(words) and words[at].text == "{":
            at = closing(words, at)
            # `struct { … };`, `int a[] = { … };` extend to their semicolon; a function ends with its brace.
            if any(one.text in ("struct", "class", "enum", "union", "=") for one in words[begin : begin + 12]) and not _is_function(words[begin:at]):
                while at < len(words) and words[at].text != ";":
                    at += 1
        yield words[begin : min(at + 1, len(words))]
        at += 1


def _namespace(words: list[Token], at: int) -> Optional[int]:
    """Returns the position of the brace of a namespace or of `extern "C"`, if one begins here."""
    texts = [one.text for one in words[at : at + 3]]
    if texts[:1] == ["namespace"] and "{" in texts:
        return at + texts.index("{")
    return at + 2 if texts == ["extern", '"C"', "{"] else None


def _is_function(item: list[Token]) -> bool:
    brace = next((n for n, one in enumerate(item) if one.text == "{"), None)
    return brace is not None and brace > 0 and item[brace - 1].text in (")", "const", "noexcept")


def _sort(item: list[Token], made: Source, unit: Unit) -> bool:
    """Stores a definition in its table. Returns `True` if the compiler for the GPU gets it."""
    texts = {one.text for one in item}
    if "__global__" in texts and _is_function(item):
        kernel = _kernel(item)
        made.refuse(kernel.name, _defect_of_kernel(item, unit))
        if kernel.name in made.kernels:
            made.refuse(kernel.name, "two kernels of one name")
        made.kernels[kernel.name] = kernel
        return True
    if _is_function(item) and "PYBIND11_MODULE" not in texts:
        function = _function(item)
        made.refuse(function.name, _defect(item, unit))
        made.add_function(function)
        return "__device__" in texts or "struct" in texts
    if "PYBIND11_MODULE" in texts or texts & {"torch", "at", "c10", "py", "std"} or not texts & {"__device__", "__constant__"} and item[-2:-1] and item[-2].text == ")":
        return False
    equals = next((n for n, one in enumerate(item) if one.text == "="), None)
    if equals is not None and texts & {"const", "constexpr"} and equals > 0:
        name = item[equals - 1].text
        made.refuse(name, _defect(item, unit) or ("a constant of the GPU" if texts & {"__device__", "__constant__"} else None))
        made.add_constant(name, Constant(_kind(item[: equals - 1]), tuple(item[equals + 1 : -1])))
    return True


def _defect(item: list[Token], unit: Unit) -> Optional[str]:
    """Returns the reason why a definition of the host cannot be read."""
    refused = next((one.text for one in item if one.kind == "refused"), None)
    if refused is not None:
        return refused
    if item[0].text == "template":
        return "a template of the host"
    if any(one.text == "struct" for one in item):
        return "a `struct` in a function"
    return "a condition of the preprocessor" if unit.is_conditional(item[0].at, item[-1].stop) else None


def _defect_of_kernel(item: list[Token], unit: Unit) -> Optional[str]:
    """Returns the reason why a kernel's signature cannot be read. Its body is for the compiler."""
    begin, end = _head(item)
    head = item[: end + 1]
    refused = next((one.text for one in head if one.kind == "refused"), None)
    if refused is not None:
        return refused
    if any(first < head[-1].stop and head[0].at < last for first, last in unit.spans):
        return "a directive in the parameters of a kernel"
    names = {name for _, name in _parameters(item[begin + 1 : end])}
    if any(one.text in names and one.stop - one.at != len(one.text) for one in head) or len(item[-1].text) != item[-1].stop - item[-1].at:
        return "a macro that names the parameters of a kernel"
    return None


def _kind(words: list[Token]) -> str:
    return " ".join(one.text for one in words if one.text not in _NO_PART)


def _head(item: list[Token]) -> tuple[int, int]:
    """Returns the positions of the parentheses around a function's parameter list."""
    at = 0
    while at < len(item):
        text = item[at].text
        if text == "__launch_bounds__":
            at = closing(item, at + 1) + 1
        elif text == "(":
            return at, closing(item, at)
        else:
            at += 1
    raise Untraceable("C++ that is not read: a function without parameters")


def _parameters(words: list[Token]) -> tuple[tuple[str, str], ...]:
    found = []
    for part in split(words):
        equals = next((n for n, one in enumerate(part) if one.text == "="), len(part))
        part = part[:equals]
        names = [n for n, one in enumerate(part) if one.kind == "name"]
        if not part or [one.text for one in part] == ["void"]:
            continue
        kept = [one.text for n, one in enumerate(part) if n != names[-1]]
        found.append((" ".join(kept), part[names[-1]].text))
    return tuple(found)


def split(words: list[Token] | tuple[Token, ...]) -> list[list[Token]]:
    """Splits tokens at commas outside brackets, including template brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for one in words:
        if one.kind == "sign":
            depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(one.text, 0)
        if one.text == "," and depth <= 0:
            parts.append([])
        else:
            parts[-1].append(one)
    return [part for part in parts if part]


def _function(item: list[Token]) -> Function:
    begin, end = _head(item)
    brace = next(n for n in range(end, len(item)) if item[n].text == "{")
    return Function(item[begin - 1].text, _kind(item[: begin - 1]), _parameters(item[begin + 1 : end]), tuple(item[brace:]))


def _kernel(item: list[Token]) -> KernelSource:
    begin, end = _head(item)
    template: tuple[str, ...] = ()
    if item[0].text == "template":
        close = next(n for n, one in enumerate(item) if one.text == "__global__")
        inside = item[2 : max(n for n in range(close) if item[n].text == ">")]
        template = tuple(part[-1].text for part in split(inside))
    return KernelSource(item[begin - 1].text, _parameters(item[begin + 1 : end]), template, (item[0].at, item[-1].stop))


def _is_in_a_macro(name: str, text: str) -> bool:
    """Returns `True` if a macro may use a name that is not one of its parameters."""
    for _, formal, body in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", text, re.M):
        plain = re.sub(r'"(?:\\.|[^"\\\n])*"', " ", body)
        if name not in re.findall(r"\w+", formal) and re.search(rf"(?<![\w.]){re.escape(name)}\b", plain):
            return True
    return False


def renamed(source: Source, kernel: KernelSource, taken: set[str]) -> str:
    """Returns the text with other names for those parameters of a kernel whose names are taken: arguments are matched
    by name before order.
    """
    begin, end = kernel.span
    body = source.device[begin:end]
    for _, name in kernel.parameters:
        if name in taken:
            if _is_in_a_macro(name, source.device):
                raise Untraceable(f"the parameter `{name}` of the kernel `{kernel.name}`, which a macro uses", "give it another name than that of the tensor")
            other = f"{name}_parameter"
            while re.search(rf"\b{other}\b", source.device):
                other += "_"
            body = re.sub(rf"(?<![\w.])(?<!->)(?<!::){re.escape(name)}\b", other, body)
    return source.device[:begin] + body + source.device[end:]
