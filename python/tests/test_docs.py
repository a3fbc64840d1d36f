"""The code in the chapter "From Python" runs."""

from __future__ import annotations

from shared import ROOT
from documentation import PAGE, blocks


def test_the_code_of_the_chapter_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    scope: dict[str, object] = {}
    code = blocks()
    assert len(code) >= 8
    for line, text in code:
        exec(compile("\n" * line + text, str(PAGE), "exec"), scope)
    assert "race on `racy::parts[0]`" in capsys.readouterr().out
    # The test shown there works, with the fixture named there.
    from warpproof.testing import assert_equiv

    scope["test_softmax"](assert_equiv)
