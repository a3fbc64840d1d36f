"""A plugin for pytest: claims as tests, a fixture, a marker.

- ``@warpproof.proved_against(…)`` above a kernel makes tests of its module: one for each claim, called ``proved[NAME]``.
- The fixture ``warpproof`` is :func:`warpproof.testing.assert_equiv`, with the options of the marker and of the command line.
- ``@pytest.mark.warpproof(timeout=60, allow_unknown=True)`` sets options for a test.
- ``--warpproof-timeout`` and ``--warpproof-allow-unknown`` set them for all.

Nothing of Warpproof is imported unless a test uses it.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("warpproof", "proofs of GPU kernels")
    group.addoption(
        "--warpproof-timeout", type=float, metavar="SECONDS", help="seconds that each proof may take"
    )
    group.addoption(
        "--warpproof-allow-unknown", action="store_true", help="proofs that stay open do not fail a test"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tells pytest about the marker."""
    config.addinivalue_line("markers", "warpproof(**options): options of proofs in this test; tests that prove something")


@pytest.fixture(name="warpproof")
def _warpproof(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Fails unless a kernel is proved to compute what a reference does: ``warpproof(reference, kernel, …)``."""
    from warpproof import testing

    marker = request.node.get_closest_marker("warpproof")
    usual = {**_options(request.config), **(marker.kwargs if marker else {})}

    def prove(reference: Any, kernel: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        return testing.assert_equiv(reference, kernel, **{**usual, **keywords})

    return prove


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Any:
    """Makes tests of a kernel's claims."""
    testing = sys.modules.get("warpproof.testing")
    if testing is None or not isinstance(collector, pytest.Module):
        return None
    claims = testing.claims(obj)
    return list(_items(collector, name, claims)) if claims else None


def _items(collector: pytest.Module, name: str, claims: list[Any]) -> Iterator[ClaimItem]:
    for number, claim in enumerate(claims):
        label = claim.label or (str(number) if len(claims) > 1 else "")
        title = f"{name}-{label}" if label else name
        yield ClaimItem.from_parent(collector, name=f"proved[{title}]", claim=claim)


class ClaimItem(pytest.Item):
    """The test of a claim."""

    def __init__(self, *, claim: Any, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.claim = claim
        self.add_marker("warpproof")

    def runtest(self) -> None:
        """Proves the claim."""
        from dataclasses import replace

        keywords = {**_options(self.config), **self.claim.keywords}
        replace(self.claim, keywords=keywords).prove()

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Shows the errors in the kernel, without a traceback of this package."""
        from warpproof.errors import Refuted, UsageError

        if isinstance(excinfo.value, (Refuted, UsageError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Names the test in the summary."""
        return self.path, None, self.name


def _options(config: pytest.Config) -> dict[str, Any]:
    """Returns the command line's options for all proofs."""
    timeout = config.getoption("--warpproof-timeout")
    options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    if config.getoption("--warpproof-allow-unknown"):
        options["allow_unknown"] = True
    return options
