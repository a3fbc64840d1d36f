"""KernelBench problems: traces `Model`, records `ModelNew`, compares them.

`python -m warpproof.kernelbench PROBLEM.py SOLUTION.py [--reduced]` runs in a child process, because a solution is
somebody's code: put a sandbox around it if you do not trust it. Shapes are reduced by replacing every integer of the
problem (and of the solution) that is at least 16 by 16, or 17 if it is odd; if the problem then contradicts itself, by
32 and 64. The answer holds for the shapes it names.
"""

from __future__ import annotations

import ast
from typing import Any, Iterator, Optional

LIMITS: tuple[Optional[int], ...] = (16, 32, 64)


class _Smaller(ast.NodeTransformer):
    def __init__(self, limit: int):
        self.limit = limit

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = node.value
        if isinstance(number, int) and not isinstance(number, bool) and number >= self.limit:
            return ast.copy_location(ast.Constant(self.limit + number % 2), node)
        return node


def reduced(source: str, limit: Optional[int]) -> ast.Module:
    """Returns the code with every integer from `limit` on replaced by `limit`, or by the next odd number."""
    tree = ast.parse(source)
    return ast.fix_missing_locations(_Smaller(limit).visit(tree)) if limit is not None else tree


def load(source: str, path: str, limit: Optional[int]) -> dict[str, Any]:
    """Runs a problem or solution and returns its names; lines of errors are those of the file."""
    names: dict[str, Any] = {"__name__": "kernelbench_problem", "__file__": path}
    exec(compile(reduced(source, limit), path, "exec"), names)
    return names


def attempts(source: str, path: str, limits: tuple[Optional[int], ...] = LIMITS) -> Iterator[tuple[Optional[int], Any, list[Any]]]:
    """Yields `(limit, model, inputs)` for the limits at which the problem builds and runs."""
    import torch

    for limit in limits:
        try:
            names = load(source, path, limit)
            model = names["Model"](*names["get_init_inputs"]())
            inputs = list(names["get_inputs"]())
            with torch.no_grad():
                model(*inputs)
        except Exception:  # shapes that contradict each other; the next limit may do
            continue
        yield limit, model, inputs
