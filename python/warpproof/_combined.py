"""Combines the reports of several claims about one function into one."""

from __future__ import annotations

import json
from typing import Any, Mapping

from warpproof.report import Counterexample, Report


class CombinedReport(Report):
    """The reports of several claims; the verdict is the worst of theirs."""

    def __init__(self, parts: Mapping[str, Report], formula: str | None = None) -> None:
        #: The report of each question, by the question's name.
        self.parts = dict(parts)
        entries = [{**one, "name": _name(name, one, part)} for name, part in parts.items() for one in part._all]
        lines = [f"{name}: {part.verdict}" for name, part in parts.items()]
        texts = [f"\n{name}\n{part.text()}" for name, part in parts.items()]
        super().__init__(json.dumps({"schema": 1, "reports": entries}), "\n".join([*lines, *texts]), self._page, formula=formula)

    @property
    def counterexample(self) -> Counterexample | None:
        """Inputs on which the kernel and its reference differ, from the first part that has any."""
        return next((found for part in self.parts.values() if (found := part.counterexample) is not None), None)

    def with_formula(self, formula: str) -> Report:
        """Returns the same reports with the formula that a function was traced to."""
        return CombinedReport(self.parts, formula)

    def _page(self) -> str:
        return f"<!DOCTYPE html>\n<meta charset=utf-8>\n{self._repr_html_()}\n"

    def __reduce__(self) -> tuple[Any, ...]:
        return CombinedReport, (self.parts, self.formula)


def _name(name: str, one: Mapping[str, Any], part: Report) -> str:
    """Returns the name of an entry, after the name of its question if there are several entries."""
    return f"{name}, {one.get('name') or one.get('kernel')}" if len(part._all) > 1 else name
