"""The code blocks of `docs/python.md`, which run as they are, one after the other."""

from __future__ import annotations

from shared import ROOT

PAGE = ROOT / "docs" / "python.md"


def blocks(*needs: str) -> list[tuple[int, str]]:
    """Returns the Python blocks that need one of these packages, or none, each with the line it begins at."""
    marks = [f"<!-- needs {one} -->" for one in needs] or [""]
    found, lines = [], PAGE.read_text().splitlines()
    for number, line in enumerate(lines):
        if line == "```python" and lines[number - 1] in marks:
            end = lines.index("```", number)
            found.append((number + 1, "\n".join(lines[number + 1 : end]) + "\n"))
    return found
