"""The code of `docs/python.md`: blocks that run as they stand, one after the other."""

from __future__ import annotations

from conftest import ROOT

PAGE = ROOT / "docs" / "python.md"
MARK = "<!-- needs triton -->"


def blocks(needs_triton: bool) -> list[tuple[int, str]]:
    """Returns the Python of the page, with the line that each block begins at."""
    found, lines = [], PAGE.read_text().splitlines()
    for number, line in enumerate(lines):
        if line == "```python" and (lines[number - 1] == MARK) == needs_triton:
            end = lines.index("```", number)
            found.append((number + 1, "\n".join(lines[number + 1 : end]) + "\n"))
    return found
