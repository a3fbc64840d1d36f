"""The cells of the notebook `docs/softmax.ipynb` run, and show the outputs stored in it.

`SNAPSHOTS=overwrite` stores the current outputs. No notebook software is needed: a cell is run as by IPython, and its
last expression is shown.
"""

from __future__ import annotations

import ast
import io
import json
import os
from contextlib import redirect_stdout
from typing import Any

from shared import ROOT

PAGE = ROOT / "docs" / "softmax.ipynb"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run(source: str, scope: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Runs a cell and returns its outputs, as notebooks store them."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, str(PAGE), "exec"), scope)
        value = eval(compile(last, str(PAGE), "eval"), scope) if last is not None else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def test_the_cells_show_what_is_stored(monkeypatch):
    monkeypatch.chdir(ROOT)
    notebook = json.loads(PAGE.read_text())
    scope: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6
    for number, cell in enumerate(cells, 1):
        outputs = run("".join(cell["source"]), scope, number)
        if os.environ.get("SNAPSHOTS") == "overwrite":
            cell["outputs"], cell["execution_count"] = outputs, number
        assert cell["outputs"] == outputs, f"cell {number}"
    if os.environ.get("SNAPSHOTS") == "overwrite":
        PAGE.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
