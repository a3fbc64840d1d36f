"""The torch code in the chapter "From Python" runs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from documentation import blocks  # noqa: E402


def test_the_torch_code_of_the_chapter_runs(tmp_path, monkeypatch):
    """Triton reads the source of its functions, so it must be a file."""
    assert len(blocks("torch")) == 3
    module = tmp_path / "torch_chapter.py"
    module.write_text("\n".join(text for _, text in blocks("triton", "torch")))
    monkeypatch.syspath_prepend(tmp_path)
    import torch_chapter  # type: ignore[import-not-found]

    assert torch_chapter.report.proved


def test_the_first_example_is_whole(tmp_path):
    """A new user copies it into a file."""
    import subprocess

    ((_, text),) = blocks("torch alone")
    (tmp_path / "first.py").write_text(text)
    done = subprocess.run([sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("equivalence: proved: 400 output elements are equal"), done.stdout + done.stderr
