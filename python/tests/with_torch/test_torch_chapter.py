"""The chapter "From Python" is true: its code with torch runs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from documentation import blocks  # noqa: E402


def test_the_torch_code_of_the_chapter_runs(tmp_path, monkeypatch):
    """Triton reads the source of its functions, so it must be a file."""
    assert len(blocks("torch")) == 1
    module = tmp_path / "torch_chapter.py"
    module.write_text("\n".join(text for _, text in blocks("triton", "torch")))
    monkeypatch.syspath_prepend(tmp_path)
    import torch_chapter  # type: ignore[import-not-found]

    assert torch_chapter.report.proved
