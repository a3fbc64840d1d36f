"""Pointers of a Triton kernel: the arguments that its loads and stores may go to, from Triton's intermediate code.

The text is read line by line. What is not known in it, such as a region of another operation or a pointer made of an
integer, makes every argument read and written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Optional

_MEMORY = r"tt\.(?:experimental_)?(?:{}|atomic_rmw|atomic_cas|descriptor_{}|descriptor_reduce)\b"
_STORES = re.compile(_MEMORY.format("store", "(?:store|scatter)"))
_READS = re.compile(_MEMORY.format("load", "(?:load|gather)"))
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_LOCATION = re.compile(r"""\s*\bloc\((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*"|\([^()]*\))*\))*\)""")
#: Code whose pointers are not followed. A pointer that is loaded, or made of an integer, may point anywhere.
_UNREAD = re.compile(r"tt\.call|tt\.extern_elementwise|inline_asm|tt\.int_to_ptr|!tt\.ptr<!tt\.ptr|\bcf\.(?:switch|.*\^\w+\()")
#: Operations with regions that no pointer goes through except by their operands.
_PLAIN_REGIONS = re.compile(r'"?tt\.(?:reduce|scan|map_elementwise)\b')

#: A value, and one that it may be.
Flow = tuple[str, str]


class _Unread(Exception):
    """Code that is not read."""


@dataclass
class _Region:
    """An operation with regions: its results, and the values carried from one round to the next."""

    kind: str
    results: list[str] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)
    #: Values that `scf.condition` gives to the body of a `while`.
    given: Optional[list[str]] = None


def accessed(code: str, name: str, parameters: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the parameters that the pointers of loads, and of stores, may come from."""
    everything = frozenset(parameters)
    head = re.search(rf"tt\.func public @{re.escape(name)}\((.*?)\)\s*(?:attributes|\{{)", code, re.S)
    if head is None or _UNREAD.search(code):
        return everything, everything
    formal = re.findall(r"(%[\w$.-]+):", head.group(1))
    if len(formal) != len(parameters):
        return everything, everything
    lines = [_LOCATION.sub("", line).strip() for line in code[head.end() :].splitlines()]
    try:
        flows = _flows(lines[1:])
    except _Unread:
        return everything, everything
    reach = {value: {parameter} for value, parameter in zip(formal, parameters)}
    changed = True
    while changed:
        changed = False
        for target, source in flows:
            before = reach.setdefault(target, set())
            if not reach.get(source, set()) <= before:
                before |= reach[source]
                changed = True
    return _origins(_READS, lines, reach, everything), _origins(_STORES, lines, reach, everything)


def _origins(
    operation: re.Pattern[str], lines: list[str], reach: dict[str, set[str]], everything: frozenset[str]
) -> frozenset[str]:
    found: set[str] = set()
    for line in lines:
        match = operation.search(line)
        if match is not None:
            first = _VALUE.search(line[match.end() :])
            # A pointer whose origin is not known may point to everything.
            found |= (reach.get(first.group()) if first else None) or everything
    return frozenset(found)


def _flows(lines: list[str]) -> list[Flow]:
    """Returns the values that may become others: through operations, branches and the rounds of loops."""
    flows: list[Flow] = []
    regions: list[_Region] = []
    for line in lines:
        if line.startswith("}"):
            if not regions:
                return flows
            if not re.fullmatch(r"\} (?:else|do) \{", line):
                regions.pop()
        elif line.startswith("^"):
            flows += _block(line, regions)
        elif re.match(r"(?:scf\.(?:yield|condition)|tt\.(?:reduce|scan|map_elementwise)\.return)\b", line):
            flows += _ending(line, regions)
        elif line.endswith("{"):
            regions.append(_opened(line, flows))
        else:
            results, right = _results(line)
            flows += [(result, value) for result in results for value in _VALUE.findall(right)]
    raise _Unread


def _results(line: str) -> tuple[list[str], str]:
    """Returns the values that a line defines, and the rest of it. `%a:2` are `%a#0` and `%a#1`."""
    match = re.match(r"(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = ", line)
    if match is None:
        return [], line
    found: list[str] = []
    for part in match.group(1).split(", "):
        name, _, count = part.partition(":")
        found += [f"{name}#{n}" for n in range(int(count))] if count else [name]
    return found, line[match.end() :]


def _opened(line: str, flows: list[Flow]) -> _Region:
    """Reads the first line of an operation with regions."""
    results, right = _results(line)
    values = _VALUE.findall(right)
    if _PLAIN_REGIONS.match(right):
        flows += [(result, value) for result in results for value in values]
        return _Region("plain")
    kind = re.match(r"scf\.(for|while|if)\b", right)
    if kind is None:
        raise _Unread
    place = {"for": r"iter_args\((.*?)\)", "while": r"scf\.while \((.*?)\)", "if": r"$^"}[kind.group(1)]
    inside = re.search(place, right)
    pairs = re.findall(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)", inside.group(1)) if inside else []
    carried = [inner for inner, _ in pairs]
    if kind.group(1) == "for":
        if len(carried) != len(results):
            raise _Unread
        flows += [(result, outer) for result, (_, outer) in zip(results, pairs)]
    flows += pairs
    return _Region(kind.group(1), results, carried)


def _block(line: str, regions: list[_Region]) -> list[Flow]:
    """Reads the first line of a block: the body of a `while` is given the values of its condition."""
    names = re.findall(r"(%[\w$.-]+):", line)
    if not names or (regions and regions[-1].kind == "plain"):
        return []
    given = regions[-1].given if regions else None
    if given is None or len(given) != len(names):
        raise _Unread
    return list(zip(names, given))


def _ending(line: str, regions: list[_Region]) -> list[Flow]:
    """Reads the last line of a region."""
    if not regions:
        raise _Unread
    region = regions[-1]
    if region.kind == "plain":
        return []
    values = _VALUE.findall(line)
    if line.startswith("scf.condition"):
        region.given = values[1:]
        targets, values = [region.results], values[1:]
    elif region.kind == "while":
        targets = [region.carried]
    else:
        targets = [region.results, region.carried] if region.kind == "for" else [region.results]
    if any(len(names) != len(values) for names in targets):
        raise _Unread
    return [flow for names in targets for flow in zip(names, values)]
