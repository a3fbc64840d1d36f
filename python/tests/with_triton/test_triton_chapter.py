"""The Triton code in the chapter "From Python" runs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from documentation import blocks  # noqa: E402


def test_the_triton_code_of_the_chapter_runs(tmp_path, monkeypatch):
    """Triton reads the source of its functions, so it must be a file."""
    code = blocks("triton")
    assert len(code) >= 2
    module = tmp_path / "chapter.py"
    module.write_text("\n".join(text for _, text in code))
    monkeypatch.syspath_prepend(tmp_path)
    import chapter  # type: ignore[import-not-found]
    from warpproof.testing import claims

    (claim,) = claims(chapter.claimed_kernel)
    assert claim.prove().proved
