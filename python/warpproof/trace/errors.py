"""The error for functions that cannot become formulas."""

from __future__ import annotations

from typing import Optional


class Untraceable(TypeError):
    """A function that is not a formula: the obstacle, its place, and a way to write it instead."""

    def __init__(self, reason: str, help: str = "", *, operation: Optional[str] = None, line: Optional[str] = None):
        self.reason, self.help, self.operation, self.line = reason, help, operation, line
        super().__init__(self._text())

    def _text(self) -> str:
        where = f"{self.line}: " if self.line else ""
        what = f"`{self.operation}`: " if self.operation else ""
        return f"{where}{what}{self.reason}" + (f"; {self.help}" if self.help else "")

    def at(self, operation: Optional[str], line: Optional[str]) -> "Untraceable":
        """Returns the same error with the operation and the Python line it came from."""
        return Untraceable(self.reason, self.help, operation=self.operation or operation, line=self.line or line)
