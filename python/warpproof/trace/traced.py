"""The result of tracing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence


@dataclass
class Traced:
    """A function as a formula.

    `formula` is its text. `inputs` and `outputs` are `(name, dtype, shape)`. `lines` maps definitions to `file:line`
    of the Python code. `weights` maps inputs that are parameters, buffers or constants to their paths in the module.
    `contents` has the arrays of buffers and constants: bind them to claim the function itself, or leave them free to
    claim it for all contents. `notes` are sentences for the report. `loose` are outputs whose integers may leave their
    type: a store keeps the low bits.
    """

    formula: str
    inputs: list[tuple[str, str, tuple[int, ...]]]
    outputs: list[tuple[str, str, tuple[int, ...]]]
    lines: dict[str, str]
    weights: dict[str, str] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    loose: frozenset[str] = frozenset()
    #: How the results are put together, as text; empty if that is not known.
    structure: str = ""

    def input_names(self, names: Sequence[str], arguments: Sequence[Any]) -> list[str]:
        """Returns the names of the arguments in the formula, for arguments that are flat. Others than tensors keep theirs.

        The formula may name an input differently: its name may be a word of the language, or that of a parameter.
        """
        inputs = iter([name for name, _, _ in self.inputs if name not in self.weights])
        return [next(inputs, name) if hasattr(argument, "shape") else name for name, argument in zip(names, arguments)]

    def stored_as(self, name: str, dtype: str) -> str:
        """Returns the objection to an output that a kernel stores as another type, or an empty text.

        The formula of a `loose` output is right only in the low bits of its type.
        """
        own = next((kind for output, kind, _ in self.outputs if output == name), dtype)
        if name not in self.loose or (dtype[0] in "su" and int(dtype[1:]) <= int(own[1:])):
            return ""
        return f"`{name}` wraps around as {own}, and the kernel stores it as {dtype}; convert it in the function"
