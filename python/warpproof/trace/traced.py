"""The result of tracing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Traced:
    """A function as a formula.

    `formula` is its text. `inputs` and `outputs` are `(name, dtype, shape)`. `lines` maps definitions to `file:line` of
    the Python code. `weights` maps inputs that are parameters, buffers or constants to their paths in the module;
    `contents` has the arrays that buffers and constants hold: bind them to claim the function itself, or leave them
    free to claim it for all contents. `notes` are sentences for the report.
    """

    formula: str
    inputs: list[tuple[str, str, tuple[int, ...]]]
    outputs: list[tuple[str, str, tuple[int, ...]]]
    lines: dict[str, str]
    weights: dict[str, str] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
