"""Tokens and the preprocessor of CUDA C++: comments, macros and conditional text.

Macros are replaced word by word, as the compiler does. What depends on a condition (`#if`), or is defined more than
once, becomes a token of kind "refused": the definition that uses it cannot be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Optional, Sequence

from ..trace.errors import Untraceable

_STRINGS = r"""R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<string>{_STRINGS})
    |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<<|>>>|::|->|\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|<<|[-+*/%<>=!&|^~?:;,.(){{}}\[\]\#@])""",
    re.X | re.S,
)
#: Comments, and what only looks like one: strings, and numbers with `'` between their digits.
_COMMENT = re.compile(rf"(?P<comment>//(?:\\[ \t]*\r?\n|[^\n])*|/\*.*?\*/)|\b\d(?:'?[\w.])*|{_STRINGS}", re.S)
#: Headers that the compiler for the GPU does not have, or that only the host needs.
#: Names that every compiler of the text knows, or none.
_SAME_EVERYWHERE = frozenset("defined __CUDA_ARCH__ __CUDACC__ USE_ROCM __HIP_PLATFORM_AMD__ __HIPCC__ true false".split())
_HEADERS = re.compile(r"\s*#\s*include\s*[<\"](?:torch/|ATen/|c10/|pybind11/|vector|iostream|stdio|cstdio|stdlib|cstdlib|string|algorithm|tuple|memory)")


@dataclass(frozen=True)
class Token:
    """A token of the language. `kind` is "name", "number", "string", "sign" or "refused", whose text is the reason.

    `at` and `stop` are its place in the text. A token from a macro has the place of the macro's use.
    """

    kind: str
    text: str
    at: int
    stop: int = 0


@dataclass(frozen=True)
class Macro:
    """A macro: its parameters, `None` if it has no parentheses, and its tokens."""

    at: int
    names: Optional[tuple[str, ...]]
    words: tuple[Token, ...]


@dataclass
class Unit:
    """The directives of a text."""

    macros: dict[str, Macro] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)
    headers: list[tuple[int, int]] = field(default_factory=list)
    #: Texts from `#if` to `#endif`.
    conditional: list[tuple[int, int]] = field(default_factory=list)
    #: Names in conditions, in their order.
    asked: list[str] = field(default_factory=list)
    text: str = field(default="", repr=False)

    def is_conditional(self, begin: int, end: int) -> bool:
        """Returns `True` if a condition of the preprocessor decides about part of this text."""
        return any(first < end and begin < last for first, last in self.conditional)

    def decides(self, pattern: str) -> bool:
        """Returns `True` if a condition of the preprocessor decides about text of this pattern."""
        return any(self.is_conditional(*match.span()) for match in re.finditer(pattern, self.text))

    def foreign_condition(self) -> Optional[str]:
        """Returns the reason why compilers may take different parts of the text: a name that the text does not define."""
        own = {*self.macros, *self.refused}
        names = (name for name in self.asked if name not in _SAME_EVERYWHERE and (name not in own or name.startswith("_")))
        name = next(names, None)
        return None if name is None else f"a condition of the preprocessor on `{name}`"


def tokens(text: str) -> list[Token]:
    """Returns the tokens of a text without comments."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or text[at : at + 2] == "%:":
            raise Untraceable(f"C++ that is not read: `{text[at : at + 20].splitlines()[0]}`")
        if match.lastgroup == "string" and found and found[-1].stop == at and found[-1].text.endswith("R"):
            raise Untraceable("C++ that is not read: a raw string with a delimiter")
        if match.lastgroup != "space":
            found.append(Token(str(match.lastgroup), match.group(), at, match.end()))
        at = match.end()
    return found


def closing(words: Sequence[Token], at: int) -> int:
    """Returns the position of the bracket that closes the one here."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth: list[str] = []
    for place in range(at, len(words)):
        text = words[place].text
        if words[place].kind != "sign":
            continue
        if text in pairs:
            depth.append(pairs[text])
        elif depth and text == depth[-1]:
            depth.pop()
            if not depth:
                return place
    raise Untraceable("C++ that is not read: a bracket is not closed")


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns a text with spaces in place of some of its parts. Lines stay."""
    for begin, end in spans:
        text = text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
    return text


def without_comments(text: str) -> str:
    """Returns a text with spaces in place of comments."""
    spans = [match.span() for match in _COMMENT.finditer(text) if match.group("comment") is not None]
    plain = blanked(text, spans)
    for begin, end in spans:
        # Such a comment continues the directive on another line.
        if "\n" in text[begin:end] and plain[plain.rfind("\n", 0, begin) + 1 : begin].lstrip().startswith("#"):
            raise Untraceable("C++ that is not read: a comment of several lines behind a directive")
    return plain


def directives(text: str) -> Unit:
    """Reads the directives of a text without comments."""
    unit = Unit(text=text)
    opened: list[int] = []
    for match in re.finditer(r"^[ \t]*#(?:[^\n\\]|\\[ \t]*\r?\n|\\.)*", text, re.M):
        unit.spans.append(match.span())
        line = re.sub(r"\\[ \t]*\r?\n", " ", match.group())
        if _HEADERS.match(line):
            unit.headers.append(match.span())
        word = re.match(r"\s*#\s*(\w*)", line)
        kind = word.group(1) if word is not None else ""
        if kind.startswith(("if", "elif")):
            unit.asked += re.findall(r"[A-Za-z_]\w*", re.sub(r"\b0[xX][0-9a-fA-F]+|\b\d\w*", "", line[line.index(kind) + len(kind) :]))
        if kind in ("if", "ifdef", "ifndef"):
            opened.append(match.start())
        elif kind == "endif" and opened:
            unit.conditional.append((opened.pop(), match.end()))
        elif kind in ("define", "undef"):
            _define(line, match.start(), unit, bool(opened))
    unit.conditional += [(begin, len(text)) for begin in opened]
    return unit


def _define(line: str, at: int, unit: Unit, is_conditional: bool) -> None:
    match = re.match(r"\s*#\s*(define|undef)\s+(\w+)(\(([^)]*)\))?(.*)", line, re.S)
    if match is None:
        raise Untraceable(f"C++ that is not read: `{line.strip()[:40]}`")
    name = match.group(2)
    if match.group(1) == "undef" or name in unit.macros:
        unit.refused[name] = f"the macro `{name}`, which is defined more than once or removed,"
    elif is_conditional:
        unit.refused[name] = f"the macro `{name}`, which is defined under a condition,"
    elif "##" in match.group(5):
        unit.refused[name] = f"the macro `{name}`, which joins tokens,"
    names = None if match.group(3) is None else tuple(one for one in (part.strip() for part in match.group(4).split(",")) if one)
    if any(not re.fullmatch(r"\w+|\.\.\.", one) for one in names or ()):
        unit.refused[name] = f"the macro `{name}`"
    if name not in unit.refused:
        try:
            unit.macros[name] = Macro(at, names, tuple(tokens(match.group(5))))
        except Untraceable:
            unit.refused[name] = f"the macro `{name}`"


def expanded(words: Sequence[Token], unit: Unit, hidden: frozenset[str] = frozenset()) -> list[Token]:
    """Replaces the macros in a text."""
    found: list[Token] = []
    at = 0
    while at < len(words):
        one = words[at]
        at += 1
        macro = unit.macros.get(one.text) if one.kind == "name" else None
        if one.kind == "name" and one.text in unit.refused:
            found.append(Token("refused", unit.refused[one.text], one.at, one.stop))
            continue
        called = at < len(words) and words[at].text == "("
        if macro is None or macro.at > one.at or (macro.names is not None and not called):
            found.append(one)
            continue
        given: dict[str, list[Token]] = {}
        stop = one.stop
        if macro.names is not None:
            close = closing(words, at)
            passed = _arguments(macro.names, words[at + 1 : close])
            stop, at = max(stop, words[close].stop), close + 1
            if passed is None:
                found.append(Token("refused", f"the number of arguments of the macro `{one.text}`", one.at, stop))
                continue
            given = passed
        if one.text in hidden:
            found.append(Token("refused", f"the macro `{one.text}`, which uses itself,", one.at, stop))
            continue
        body = [Token(word.kind, word.text, one.at, stop) for word in _body(macro, given, unit, hidden)]
        inside = expanded(body, unit, hidden | {one.text})
        last = unit.macros.get(inside[-1].text) if inside else None
        if last is not None and last.names is not None and at < len(words) and words[at].text == "(":
            inside = [Token("refused", f"the macro `{one.text}`, which ends with a macro,", one.at, stop)]
        found += inside
    return found


def _body(macro: Macro, given: dict[str, list[Token]], unit: Unit, hidden: frozenset[str]) -> list[Token]:
    """Returns the tokens of a macro with its arguments. `#name` is the argument as a string."""
    found: list[Token] = []
    words = macro.words
    at = 0
    while at < len(words):
        follows = words[at + 1].text if at + 1 < len(words) else ""
        if macro.names is not None and words[at].text == "#" and follows in given:
            text = " ".join(one.text for one in given[follows]).replace("\\", "\\\\").replace('"', '\\"')
            found.append(Token("string", f'"{text}"', 0))
            at += 2
            continue
        found += expanded(given[words[at].text], unit, hidden) if words[at].text in given else [words[at]]
        at += 1
    return found


def _arguments(names: tuple[str, ...], words: Sequence[Token]) -> Optional[dict[str, list[Token]]]:
    """Returns the arguments of a macro by name. Only parentheses keep commas together."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for one in words:
        depth += {"(": 1, ")": -1}.get(one.text, 0) if one.kind == "sign" else 0
        is_rest = bool(names) and names[-1] == "..." and len(parts) >= len(names)
        if one.text == "," and one.kind == "sign" and depth == 0 and not is_rest:
            parts.append([])
        else:
            parts[-1].append(one)
    if not names and parts == [[]]:
        return {}
    if len(parts) != len(names):
        return None
    return {"__VA_ARGS__" if name == "..." else name: part for name, part in zip(names, parts)}
