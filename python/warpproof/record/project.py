"""Recordings as objects and as project folders."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Optional, Union

from ..trace.traced import Traced

Spec = tuple[str, str, tuple[int, ...]]


@dataclass
class Launch:
    """A launch: PTX, grid, threads, shared memory, and arguments as the command line writes them."""

    kernel: str
    ptx: str
    grid: tuple[int, ...]
    block: int
    shared: int
    cluster: tuple[int, ...]
    arguments: list[tuple[str, str]]  # name of the parameter, text
    uses: list[str]
    options: dict[str, Any] = field(default_factory=dict)  # constexpr arguments
    alias: list[str] = field(default_factory=list)  # arguments that are one address: "x,x_2"

    def table(self, file: str) -> str:
        """Writes the launch as an inline table of a project."""
        entries = [
            f"kernel = {_quoted(f'{file}::{self.kernel}')}",
            f"grid = {list(self.grid)}",
            f"block = {self.block}",
        ]
        entries += [f"smem = {self.shared}"] if self.shared else []
        entries += [f"cluster = {list(self.cluster)}"] if self.cluster else []
        texts = [text for _, text in self.arguments]
        entries.append("args = [" + ", ".join(_quoted(t) for t in texts) + "]")
        entries += ["alias = [" + ", ".join(_quoted(names) for names in self.alias) + "]"] if self.alias else []
        return "{ " + ", ".join(entries) + " }"


@dataclass
class Formula:
    """Operations of torch between launches, as a formula."""

    text: str
    inputs: list[Spec]
    outputs: list[Spec]
    operations: list[str]

    @property
    def uses(self) -> list[str]:
        """Names of tensors that are read."""
        return [name for name, _, _ in self.inputs]

    def table(self, file: str) -> str:
        """Writes the formula as an inline table of a project."""
        return "{ formula = " + _quoted(self.text) + ", args = " + declared(self.inputs, self.outputs) + " }"


def declared(inputs: list[Spec], outputs: list[Spec]) -> str:
    """Writes the tensors of a formula as a list of arguments."""
    texts = [argument(spec) for spec in inputs] + [argument(spec) + ":out" for spec in outputs]
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def argument(spec: Spec) -> str:
    """Writes a tensor as the command line does; a scalar is a tensor of one element."""
    name, dtype, shape = spec
    return f"{name}={'u8' if dtype == 'bool' else dtype}[{','.join(map(str, shape or (1,)))}]"


Step = Union[Launch, Formula]


@dataclass
class Variant:
    """One run: with one configuration of every autotuned kernel."""

    steps: list[Step]
    inputs: list[Spec]
    outputs: list[Spec]
    weights: dict[str, str]
    operations: list[str]

    @property
    def launches(self) -> list[Launch]:
        """The launches alone."""
        return [step for step in self.steps if isinstance(step, Launch)]


@dataclass
class Recording:
    """What a host function does, for every configuration."""

    variants: list[Variant]

    @property
    def steps(self) -> list[Step]:
        """The steps with the first configuration."""
        return self.variants[0].steps

    @property
    def inputs(self) -> list[Spec]:
        """The inputs: name, type and shape."""
        return self.variants[0].inputs

    @property
    def outputs(self) -> list[Spec]:
        """The results: name, type and shape."""
        return self.variants[0].outputs

    def write(
        self, folder: Union[str, Path], reference: Optional[Traced] = None, timeout: Optional[float] = None
    ) -> Path:
        """Writes a project: comparisons with a traced function if one is given, checks of each launch otherwise.

        `timeout` is in seconds, for each entry.
        """
        root = Path(folder)
        root.mkdir(parents=True, exist_ok=True)
        tables = [] if timeout is None else [f'[defaults]\ntimeout = "{timeout:g}s"\n']
        for number, variant in enumerate(self.variants):
            files = dict(_write_kernels(root, variant, number))
            if reference is not None:
                tables.append(_comparison(variant, files, reference, number, len(self.variants)))
            else:
                tables += [_check(step, files[id(step)], number, n) for n, step in enumerate(variant.launches)]
        (root / "warpproof.toml").write_text("\n".join(tables))
        return root / "warpproof.toml"


def _write_kernels(root: Path, variant: Variant, number: int) -> Iterator[tuple[int, str]]:
    for n, step in enumerate(variant.launches):
        name = re.sub(r"\W+", "_", step.kernel)
        file = f"{name}.{number}.{n}.ptx"
        (root / file).write_text(step.ptx)
        yield id(step), file


def _comparison(variant: Variant, files: dict[int, str], reference: Traced, number: int, count: int) -> str:
    name = "recorded" if count == 1 else f"configuration {number}"
    tables = [step.table(files.get(id(step), "")) for step in variant.steps]
    lines = ["[[equiv]]", f"name = {_quoted(name)}", _reference(reference)]
    return "\n".join([*lines, "optimised = [", *(f"  {table}," for table in tables), "]", ""])


def _reference(traced: Traced) -> str:
    arguments = declared(traced.inputs, traced.outputs)
    return f"reference = {{ formula = {_quoted(traced.formula)}, args = {arguments} }}"


def _check(step: Launch, file: str, number: int, position: int) -> str:
    inside = step.table(file)[2:-2]
    parts = re.split(r", (?=(?:grid|block|smem|cluster|args|alias) = )", inside)
    return "\n".join(["[[check]]", f"name = {_quoted(f'{step.kernel} {number}.{position}')}", *parts, ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
