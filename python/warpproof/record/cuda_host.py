"""Host functions of CUDA extensions, interpreted on fake tensors: sizes, allocations and launches.

The part of C++ needed to launch kernels is small: declarations, arithmetic on sizes, conditions, loops, allocations,
calls of torch and `kernel<<<grid, block>>>(…)`. Everything else is refused by name, as are integers that leave the
range of their type. Floats do not round, as everywhere; a float converted to an integer is refused if rounding could
matter.
"""

from __future__ import annotations

import contextlib
import re
from collections import ChainMap
from typing import Any, Callable, Collection, Iterator, Optional, Sequence

import torch

from ..trace.errors import Untraceable
from .cuda_expressions import Expression, binary, template_end
from .cuda_integers import TYPING, integer, plain, type_of
from .cuda_macros import Token, closing
from .cuda_source import Function, Source, split
from .cuda_values import BUILTIN, CONSTANTS, TYPES, Dim3, bare_kind, converted, truth

#: `on_launch(kernel, template arguments, grid, block, shared, arguments)`.
Launch = Callable[[str, Sequence[Any], Dim3, Dim3, int, Sequence[Any]], None]

_NOT_TYPES = {"return", "else", "delete", "new", "throw", "goto", "case", "using", "typedef", "if", "for", "while", "do", "switch"}
_QUALIFIERS = {"const", "constexpr", "inline"}
#: Statements that are not read.
_REFUSED = {"static", "thread_local", "volatile", "switch", "case", "default", "do", "try", "catch", "goto", "throw", "struct", "using", "typedef", "delete"}
_WIDE = {"unsigned", "long", "short", "signed"}
#: Macros that run a body for an element type; those behind `_AND` name more types first.
_DISPATCH = re.compile(r"AT_DISPATCH_(?:FLOATING|ALL)_TYPES(?:_AND_HALF|(_AND)([2-9])?)?")
_MOST_ROUNDS = 100_000
#: Bytes of dynamic shared memory that every launch may have.
_SHARED = 48 << 10


class _Return(Exception):
    def __init__(self, value: Any):
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Unset:
    """A variable without a value."""


class Host:
    """The host functions of an extension."""

    def __init__(self, source: Source, on_launch: Launch, kernels: Collection[str] = ()):
        self.source, self.on_launch, self.kernels = source, on_launch, kernels
        #: Bytes of dynamic shared memory that kernels were allowed, by their names with template arguments.
        self.allowed: dict[str, int] = {}

    def call(self, name: str, arguments: Sequence[Any], has_template: bool = False) -> Any:
        """Calls a host function."""
        reason = self.source.refused.get(name) or ("template arguments" if has_template else None)
        if name in BUILTIN:
            reason = "a function with the name of a library's"
        if reason is not None:
            raise Untraceable(f"{reason} at the host function `{name}`", "give the kernel and its launch to warpproof.verify")
        function = self.source.functions[name]
        if len(arguments) != len(function.parameters):
            raise Untraceable(f"`{name}` takes {len(function.parameters)} arguments, not {len(arguments)}")
        if TYPING.get():
            # Only the type is asked for, and a call may launch kernels.
            return converted(function.kind, 1)
        values = {formal: converted(kind, value) for (kind, formal), value in zip(function.parameters, arguments)}
        frame = _Frame(self, function, values, {formal: kind for kind, formal in function.parameters})
        return converted(function.kind, frame.run())


class _Frame:
    """One call of a host function. A block has variables of its own."""

    def __init__(self, host: Host, function: Function, values: dict[str, Any], types: dict[str, str]):
        self.host, self.words, self.function = host, function.body, function
        self.scope: ChainMap[str, Any] = ChainMap(values)
        self.types: ChainMap[str, str] = ChainMap(types)

    def run(self) -> Any:
        try:
            self.block(0)
        except _Return as returned:
            return returned.value
        return None

    def refuse(self, what: str) -> Untraceable:
        return Untraceable(f"{what} in the host function `{self.function.name}`", "give the kernel and its launch to warpproof.verify")

    def text(self, at: int) -> str:
        return self.words[at].text if at < len(self.words) else ""

    # -- statements

    @contextlib.contextmanager
    def inner(self) -> Iterator[None]:
        """Gives variables declared inside an end."""
        outside = self.scope, self.types
        self.scope, self.types = self.scope.new_child(), self.types.new_child()
        try:
            yield
        finally:
            self.scope, self.types = outside

    def block(self, at: int) -> int:
        """Runs the statements between braces, and returns the position after them."""
        end = closing(self.words, at)
        at += 1
        with self.inner():
            while at < end:
                at = self.statement(at)
        return end + 1

    def nested(self, at: int) -> None:
        """Runs the statement of a condition or a loop."""
        with self.inner():
            self.statement(at)

    def skip(self, at: int) -> int:
        """Returns the position after a statement."""
        text = self.text(at)
        if text in _REFUSED:
            raise self.refuse(f"`{text}`")
        if text == "{":
            return closing(self.words, at) + 1
        if text in ("if", "for", "while"):
            at = self.skip(closing(self.words, at + 1) + 1)
            return self.skip(at + 1) if text == "if" and self.text(at) == "else" else at
        return self.end_of(at) + 1

    def statement(self, at: int) -> int:
        text = self.text(at)
        if text == "{":
            return self.block(at)
        if text == ";":
            return at + 1
        if text == "if":
            return self.condition(at)
        if text in ("for", "while"):
            return self.loop(at)
        if text == "return":
            raise _Return(None if self.text(at + 1) == ";" else self.whole(at + 1, self.end_of(at)))
        if text in ("break", "continue"):
            raise _Break if text == "break" else _Continue
        if text in _REFUSED:
            raise self.refuse(f"`{text}`")
        if text.startswith("AT_DISPATCH_"):
            return self.dispatch(at)
        kind = self.declared(at)
        return self.declaration(at, *kind) if kind is not None else self.expression_statement(at)

    def end_of(self, at: int) -> int:
        """Returns the position of the statement's semicolon."""
        while self.text(at) != ";":
            if at >= len(self.words):
                raise self.refuse("a statement without an end")
            at = closing(self.words, at) + 1 if self.text(at) in ("(", "{", "[") else at + 1
        return at

    def condition(self, at: int) -> int:
        begin = at + 1
        if self.text(begin) == "constexpr":
            begin += 1
        close = closing(self.words, begin)
        then = close + 1
        after = self.skip(then)
        other = after + 1 if self.text(after) == "else" else None
        end = after if other is None else self.skip(other)
        if truth(self.whole(begin + 1, close)):
            self.nested(then)
        elif other is not None:
            self.nested(other)
        return end

    def loop(self, at: int) -> int:
        close = closing(self.words, at + 1)
        with self.inner():
            if self.text(at) == "while":
                self.rounds((at + 2, close), [], close + 1)
            else:
                first = self.end_of(at + 2)
                second = self.end_of(first + 1)
                if second > close:
                    raise self.refuse("a loop over elements")
                self.statement(at + 2)
                steps = self.comma_ranges(second + 1, close) if second + 1 < close else []
                self.rounds((first + 1, second), steps, close + 1)
        return self.skip(close + 1)

    def rounds(self, test: tuple[int, int], steps: list[tuple[int, int]], body: int) -> None:
        """Runs the rounds of a loop."""
        rounds = 0
        while test[0] == test[1] or truth(self.whole(*test)):
            try:
                self.nested(body)
            except _Break:
                break
            except _Continue:
                pass
            for step in steps:
                self.assignment(*step)
            rounds += 1
            if rounds > _MOST_ROUNDS:
                raise self.refuse("a loop without an end")

    def dispatch(self, at: int) -> int:
        """Runs the body of `AT_DISPATCH_…` with the element type of the tensor it names."""
        close = closing(self.words, at + 1)
        parts = split(self.words[at + 2 : close])
        name = self.text(at)
        read = _DISPATCH.fullmatch(name)
        if read is None:
            raise self.refuse(f"`{name}`")
        extra = int(read.group(2) or 1) if read.group(1) else 0
        kinds = {torch.float32, torch.float64, *([torch.float16] if name.endswith("_HALF") else []), *(self.value_of(part) for part in parts[:extra])}
        kind = self.value_of(parts[extra])
        body = next((n for n in range(at, close) if self.text(n) == "{"), None)
        if body is None or not isinstance(kind, torch.dtype):
            raise self.refuse(f"`{name}`")
        # Of the types that the macro knows, those that are read.
        if kind not in kinds & {torch.float32, torch.float64, torch.float16, torch.bfloat16}:
            raise self.refuse(f"`{name}` for {kind}")
        behind = [self.text(n) for n in range(closing(self.words, body) + 1, close)]
        changes_copies = any(self.text(n) == "mutable" for n in range(at, body))
        if self.text(close + 1) != ";" or any(text != ")" for text in behind) or changes_copies:
            raise self.refuse(f"`{name}`")
        with self.inner(), contextlib.suppress(_Return):
            self.scope["scalar_t"] = kind
            self.block(body)
        return close + 2

    def declared(self, at: int) -> Optional[tuple[str, int]]:
        """Returns the type of a declaration that begins here, and the position of its first name."""
        kinds: list[str] = []
        while True:
            text = self.text(at)
            if text in _QUALIFIERS:
                at += 1
            elif text in _WIDE or (kinds and kinds[-1] in _WIDE and text in ("int", "long", "char")):
                kinds.append(text)
                at += 1
            else:
                break
        if not kinds:
            if at >= len(self.words) or self.words[at].kind != "name" or self.text(at) in _NOT_TYPES:
                return None
            kinds.append(self.text(at))
            at += 1
            while self.text(at) == "::" and self.words[at + 1].kind == "name":
                kinds[-1] += "::" + self.text(at + 1)
                at += 2
            if self.text(at) == "<":
                close = self.template_end(at)
                if close is None:
                    return None
                kinds[-1] += " ".join(one.text for one in self.words[at : close + 1])
                at = close + 1
        while self.text(at) in ("&", "*", "const"):
            kinds.append(self.text(at))
            at += 1
        if at + 1 < len(self.words) and self.words[at].kind == "name" and self.text(at + 1) in ("=", "(", "{", ";", ","):
            return " ".join(kinds), at
        return None

    def declaration(self, at: int, kind: str, name_at: int) -> int:
        end = self.end_of(at)
        for begin, stop in self.comma_ranges(name_at, end):
            name, value = self.text(begin), self.initial(kind, begin, stop)
            if "&" in kind:
                self.check_reference(value, begin, stop)
            self.scope[name] = value
            self.types[name] = _kind_of(value) if bare_kind(kind) == "auto" else kind
        return end + 1

    def initial(self, kind: str, begin: int, stop: int) -> Any:
        """Returns the first value of a variable."""
        name, sign = self.text(begin), self.text(begin + 1)
        uses = [n for n in range(begin + 1, stop) if self.text(n) == name and self.text(n - 1) not in (".", "->", "::")]
        # A variable in its own first value is the new one, which has no value.
        if self.words[begin].kind != "name" or name in self.scope.maps[0] or uses:
            raise self.refuse(f"the declaration of `{name}`")
        if begin + 1 == stop:
            return Dim3(1, 1, 1) if kind == "dim3" else _Unset()
        if sign == "=":
            return converted(kind, self.whole(begin + 2, stop), self.scope)
        if sign not in ("(", "{") or closing(self.words, begin + 1) + 1 != stop:
            raise self.refuse(f"the declaration of `{name}`")
        values = [self.value_of(words) for words in split(self.words[begin + 2 : stop - 1])]
        is_list = sign == "{" and "<" in kind
        if not values or (len(values) > 1 and not is_list and kind != "dim3"):
            raise self.refuse(f"the declaration of `{name}`")
        return converted(kind, values[0] if len(values) == 1 and not is_list else values, self.scope)

    def check_reference(self, value: Any, begin: int, stop: int) -> None:
        """Refuses a reference, except to what a method has just made."""
        call = next((n for n in range(begin + 2, stop) if self.text(n) == "(" and closing(self.words, n) + 1 == stop), None)
        name = self.text(call - 1) if call is not None else ""
        if call is None or self.text(call - 2) != "." or name.endswith("_") or isinstance(value, (int, float)):
            raise self.refuse(f"the reference `{self.text(begin)}`")

    def comma_ranges(self, at: int, end: int) -> list[tuple[int, int]]:
        found, begin = [], at
        while at < end:
            if self.text(at) in ("(", "{", "["):
                at = closing(self.words, at)
            elif self.text(at) == "<" and self.template_end(at) is not None:
                at = self.template_end(at) or at
            elif self.text(at) == ",":
                found.append((begin, at))
                begin = at + 1
            at += 1
        return [*found, (begin, end)]

    def expression_statement(self, at: int) -> int:
        end = self.end_of(at)
        launch = next((n for n in range(at, end) if self.text(n) == "<<<"), None)
        if launch is not None:
            self.launch(at, launch)
        else:
            self.assignment(at, end)
        return end + 1

    def assignment(self, at: int, end: int) -> None:
        words = self.words[at:end]
        texts = [one.text for one in words]
        if len(words) > 2 and words[0].kind == "name" and texts[1] in ("=", "+=", "-=", "*=", "/=", "%="):
            value = self.whole(at + 2, end)
            if texts[1] != "=":
                if isinstance(self.known(texts[0]), torch.Tensor):
                    raise self.refuse(f"`{texts[1]}` of a tensor")
                value = binary(texts[1][0], self.known(texts[0]), value)
            self.assign(texts[0], value)
        elif len(words) == 2 and {*texts} & {"++", "--"}:
            target = texts[1] if texts[0] in ("++", "--") else texts[0]
            self.assign(target, binary("+" if "++" in texts else "-", self.known(target), integer(1, "int")))
        else:
            self.whole(at, end)

    def assign(self, name: str, value: Any) -> None:
        """Changes a variable."""
        place = next((n for n, variables in enumerate(self.scope.maps) if name in variables), None)
        if place is None or "&" in self.types.maps[place].get(name, ""):
            raise self.refuse(f"an assignment to `{name}`, which is not a variable of the function,")
        self.scope.maps[place][name] = converted(self.types.maps[place].get(name, "auto"), value, self.scope)

    def unset(self, words: Sequence[Token]) -> None:
        """Forgets the value of a variable that a call changes."""
        place = next((variables for variables in self.scope.maps if len(words) == 1 and words[0].text in variables), None)
        if place is None:
            raise self.refuse("an address of something that is not a variable of the function")
        place[words[0].text] = _Unset()

    def launch(self, at: int, sign: int) -> None:
        name = self.text(at)
        is_plain = at + 1 == sign or (self.text(at + 1) == "<" and self.template_end(at + 1) == sign - 1)
        if not is_plain or name in self.scope:
            raise self.refuse(f"the launch of `{name}`")
        template = [] if at + 1 == sign else [self.type_or_value(part) for part in split(self.words[at + 2 : sign - 1])]
        close = next(n for n in range(sign, len(self.words)) if self.text(n) == ">>>")
        place = [self.value_of(self.words[begin:stop]) for begin, stop in self.comma_ranges(sign + 1, close)]
        end = closing(self.words, close + 1)
        if not 2 <= len(place) <= 4 or self.text(close + 1) != "(" or self.text(end + 1) != ";":
            raise self.refuse(f"the launch of `{name}`")
        values = [self.value_of(part) for part in split(self.words[close + 2 : end])]
        grid, block = converted("dim3", place[0]), converted("dim3", place[1])
        shared = int(converted("size_t", place[2])) if len(place) > 2 else 0
        called = "".join(one.text for one in self.words[at:sign])
        if shared > max(_SHARED, self.host.allowed.get(called, 0)):
            raise self.refuse(f"the launch of `{name}` with {shared} bytes of shared memory, which fails without `cudaFuncSetAttribute`,")
        self.host.on_launch(name, plain(template), grid, block, shared, values)

    def type_or_value(self, words: Sequence[Token]) -> Any:
        texts = [one.text for one in words]
        if len(texts) == 1 and isinstance(self.scope.get(texts[0]), torch.dtype):
            return self.scope[texts[0]]
        joined = " ".join(texts)
        return TYPES[joined] if joined in TYPES else self.value_of(words)

    # -- expressions

    def whole(self, at: int, end: int) -> Any:
        return self.value_of(self.words[at:end])

    def value_of(self, words: Sequence[Token]) -> Any:
        reader = Expression(self, tuple(words))
        thunk = reader.ternary()
        if reader.at != len(words):
            raise self.refuse(f"`{words[reader.at].text}` behind an expression")
        return thunk()

    def known(self, name: str) -> Any:
        if name in self.scope:
            if isinstance(self.scope[name], _Unset):
                raise self.refuse(f"`{name}`, which has no value that is known,")
            return self.scope[name]
        if name in self.host.source.refused:
            raise self.refuse(f"{self.host.source.refused[name]} at `{name}`")
        constant = self.host.source.constants.get(name)
        if constant is not None:
            # Names in it are not the variables of this function.
            frame = _Frame(self.host, Function(name, "auto", (), ()), {}, {})
            return converted(constant.kind or "auto", frame.value_of(constant.words))
        if name in CONSTANTS:
            return CONSTANTS[name]
        raise self.refuse(f"`{name}`, which is not known,")

    def template_end(self, at: int) -> Optional[int]:
        return template_end(self.words, at)


def _kind_of(value: Any) -> str:
    """Returns the type of a variable declared as `auto`."""
    if isinstance(value, int):
        return type_of(value)
    return "double" if isinstance(value, float) else "auto"
