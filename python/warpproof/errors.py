"""Exceptions. An ``unknown`` answer is never an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpproof._native import Bug

if TYPE_CHECKING:
    from warpproof.report import Report

__all__ = ["Bug", "NotProved", "Refuted", "UsageError"]


class UsageError(ValueError):
    """A question without an answer: a kernel that does not exist, an argument that does not fit.

    The text is the message of the command line.
    """


class Refuted(AssertionError):
    """A refutation where none was expected."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.text())
        self.report = report

    def __reduce__(self) -> tuple[type[Refuted], tuple[Report]]:
        return type(self), (self.report,)


class NotProved(Refuted):
    """No proof where one was expected."""
