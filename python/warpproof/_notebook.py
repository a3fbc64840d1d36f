"""A report in a notebook: the verdict and the findings, with the rest folded away."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpproof.report import Finding, Report

_COLOURS = {"proved": "#1a7f37", "refuted": "#cf222e", "unknown": "#9a6700"}


def render(report: Report) -> str:
    """Returns HTML without scripts, whose styles stay inside it."""
    data = report.data
    title = " ".join(str(one) for one in (data.get("command"), data.get("kernel") or data.get("file")) if one)
    parts = [
        f'<div style="font-family:sans-serif"><p><span style="background:{_COLOURS[report.verdict]};color:#fff;'
        f'border-radius:4px;padding:2px 8px">{report.verdict}</span> <code>{escape(title)}</code></p>'
    ]
    if report.findings:
        parts.append("<ul>" + "".join(f"<li>{_finding(one)}</li>" for one in report.findings) + "</ul>")
    parts.append(f"<details><summary>report</summary><pre>{escape(report.text())}</pre></details></div>")
    return "".join(parts)


def _finding(finding: Finding) -> str:
    text = f"<b>{escape(finding.code)}</b> {escape(finding.message)}"
    if finding.locations:
        text += f" <code>{escape(str(finding.locations[0]))}</code>"
    for more in (finding.note, finding.help):
        if more:
            text += f"<br><small>{escape(more)}</small>"
    return text
