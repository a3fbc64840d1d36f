"""The result of recording a host function: its launches and formulas as data, written as a project folder.

A `Variant` is one run. There are several if kernels are autotuned: each configuration is compared on its own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Optional, Union

from ..trace.errors import Untraceable
from ..trace.formula import kind_of
from ..trace.traced import Traced

Spec = tuple[str, str, tuple[int, ...]]


@dataclass
class Launch:
    """A launch: PTX or CUDA C++, grid, threads, shared memory, and arguments in the command line's notation."""

    kernel: str
    ptx: str
    grid: tuple[int, ...]
    block: Union[int, tuple[int, ...]]
    shared: int
    cluster: tuple[int, ...]
    arguments: list[tuple[str, str]]  # name of the parameter, text
    uses: list[str]
    options: dict[str, Any] = field(default_factory=dict)  # constexpr arguments
    alias: list[str] = field(default_factory=list)  # arguments with the same address: "x,x_2"
    ending: str = ".ptx"

    def table(self, file: str) -> str:
        """Writes the launch as an inline table of a project."""
        entries = [
            f"kernel = {_quoted(f'{file}::{self.kernel}')}",
            f"grid = {list(self.grid)}",
            f"block = {self.block if isinstance(self.block, int) else list(self.block)}",
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
        """Names of the tensors read."""
        return [name for name, _, _ in self.inputs]

    def table(self, file: str) -> str:
        """Writes the formula as an inline table of a project."""
        return "{ formula = " + _quoted(self.text) + ", args = " + declared(self.inputs, self.outputs) + " }"


def declared(inputs: list[Spec], outputs: list[Spec]) -> str:
    """Writes the tensors of a formula as a list of arguments."""
    texts = [argument(spec) for spec in inputs] + [argument(spec) + ":out" for spec in outputs]
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def argument(spec: Spec) -> str:
    """Writes a tensor in the command line's notation. A scalar is a tensor of one element."""
    name, dtype, shape = spec
    return f"{name}={'u8' if dtype == 'bool' else dtype}[{','.join(map(str, shape or (1,)))}]"


Step = Union[Launch, Formula]


@dataclass
class Variant:
    """One run, with one configuration of every autotuned kernel."""

    steps: list[Step]
    inputs: list[Spec]
    outputs: list[Spec]
    weights: dict[str, str]
    operations: list[str]
    #: How the results are put together, see `Traced`.
    structure: str = ""

    @property
    def launches(self) -> list[Launch]:
        """The launches alone."""
        return [step for step in self.steps if isinstance(step, Launch)]


@dataclass
class Recording:
    """The steps of a host function, for every configuration."""

    variants: list[Variant]
    #: Properties of the GPU that the host function read, with the assumed values.
    assumptions: list[str] = field(default_factory=list)

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

    def require_results(self, traced: Traced, exact: bool) -> None:
        """Refuses results of other shapes or types than a reference's.

        If not `exact`, types are compared as kinds: NumPy knows no `bf16`, and often returns `f64`.
        """
        for variant in self.variants:
            if traced.structure and variant.structure and traced.structure != variant.structure:
                raise Untraceable(f"the results have the structure `{variant.structure}`, and those of the reference `{traced.structure}`")
            for (name, dtype, shape), (_, own, found) in zip(traced.outputs, variant.outputs):
                if traced.stored_as(name, own):
                    raise Untraceable(traced.stored_as(name, own))
                same = dtype == own if exact else (kind_of(dtype) == "real") == (kind_of(own) == "real")
                if tuple(shape) != tuple(found) or not same:
                    mine, theirs = f"{own}{list(found)}", f"{dtype}{list(shape)}"
                    raise Untraceable(f"the result `{name}` is {mine}, and the reference returns {theirs}")

    def write(
        self,
        folder: Union[str, Path],
        reference: Optional[Traced] = None,
        timeout: Optional[float] = None,
        max_instructions: Union[int, str, None] = None,
    ) -> Path:
        """Writes a project: comparisons with a traced function if one is given, otherwise checks of each launch.

        `timeout` (in seconds) and `max_instructions` are limits of each entry.
        """
        root = Path(folder)
        root.mkdir(parents=True, exist_ok=True)
        tables = _defaults(timeout, max_instructions)
        for number, variant in enumerate(self.variants):
            files = dict(_write_kernels(root, variant, number))
            if reference is not None:
                tables.append(_comparison(variant, files, reference, number, len(self.variants)))
            else:
                tables += [_check(step, files[id(step)], number, n) for n, step in enumerate(variant.launches)]
        (root / "warpproof.toml").write_text("\n".join(tables))
        return root / "warpproof.toml"


def _defaults(timeout: Optional[float], max_instructions: Union[int, str, None]) -> list[str]:
    """Writes the limits of each entry."""
    lines = [] if timeout is None else [f'timeout = "{timeout:g}s"']
    lines += [] if max_instructions is None else [f"max-instructions = {_quoted(str(max_instructions))}"]
    return ["\n".join(["[defaults]", *lines, ""])] if lines else []


def _write_kernels(root: Path, variant: Variant, number: int) -> Iterator[tuple[int, str]]:
    for n, step in enumerate(variant.launches):
        name = re.sub(r"\W+", "_", step.kernel)
        file = f"{name}.{number}.{n}{step.ending}"
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
