"""Rewards for models that write kernels: 1 for a proof, 0 for everything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Iterator

from warpproof.batches import FEEDBACK, AnyJob, Result, batch

#: Most instructions of a job, counted for each thread. Steps and not seconds, so that a job gets the same answer
#: everywhere.
STEPS = 2_000_000_000
#: Most seconds and bytes of a job, for work that executes no instructions.
SECONDS = 300.0
MEMORY = "4G"

#: Assumptions that the kernel's author brings about. A proof under them answers a question of the author's own.
_OF_THE_AUTHOR = (
    # Clauses in the text of a kernel narrow the launches that count.
    re.compile(r"requires .* \(stated in the file\)"),
    re.compile(r"assume .*"),
    # State that a launch leaves behind for the next one: a proof is about one launch.
    re.compile(r"module variable .* is not an output: it is not compared"),
)

#: In a comparison of two files for every size, clauses of either file narrow the launches.
_OF_A_PAIR = "parameters and arrays of the same name are the same"

#: The value of each grade. Partial credit can be earned without a correct kernel, so it is not a reward by itself.
GRADES = {"invalid": 0.0, "unsafe": 0.1, "different": 0.2, "open": 0.3, "proved": 1.0}


@dataclass(frozen=True)
class Scored:
    """The reward of a kernel, and feedback for its author."""

    #: 1.0 if it is proved, else 0.0.
    reward: float
    #: The reasons, short enough for a prompt.
    feedback: str
    result: Result
    #: Partial credit, if asked for. A model trained on it learns to stop at the cheapest step.
    grade: float | None = None


@dataclass(frozen=True)
class Reward:
    """A reward function: ``Reward()(jobs)`` scores each job, in their order.

    A proof holds for all contents of the tensors. So the tricks that defeat tests with a tolerance are refuted:
    constants, zeros, changed inputs, skipped work, errors at large magnitudes. It holds for the shapes of the job:
    give several, some of them odd, and take the least reward.
    """

    max_instructions: int | str = STEPS
    timeout: float = SECONDS
    max_memory: int | str = MEMORY
    workers: int | None = None
    #: Also give partial credit, as ``Scored.grade``.
    grades: bool = False
    #: Most characters of the feedback.
    feedback: int = FEEDBACK
    #: The address of a Ray cluster.
    ray: str | None = None

    def __call__(self, jobs: Iterable[AnyJob]) -> Iterator[Scored]:
        results = batch(
            jobs,
            workers=self.workers,
            max_instructions=self.max_instructions,
            timeout=self.timeout,
            max_memory=self.max_memory,
            ray=self.ray,
        )
        return (self.score(result) for result in results)

    def score(self, result: Result) -> Scored:
        """Scores a result."""
        own = _assumptions_of_the_author(result)
        reward = 1.0 if result.verdict == "proved" and not own else 0.0
        text = result.feedback(self.feedback)
        if result.verdict == "proved" and own:
            text = f"not rewarded, because the kernel itself brings this about: {own[0]}\n{text}"[: self.feedback]
        return Scored(reward, text, result, GRADES[grade(result)] if self.grades else None)


def reward(job: AnyJob, **options: Any) -> Scored:
    """Scores one job; options are those of :class:`Reward`."""
    (scored,) = Reward(workers=1, **options)([job])
    return scored


def _assumptions_of_the_author(result: Result) -> list[str]:
    """Returns the assumptions of a report that the kernel's author brought about."""
    report = result.data.get("report") or {}
    parts = report.get("reports", [report])
    assumptions = [one for part in parts for one in part.get("assumptions", [])]
    found = [one for one in assumptions if any(pattern.fullmatch(one) for pattern in _OF_THE_AUTHOR)]
    if _OF_A_PAIR in assumptions:
        found += [one for one in assumptions if one.startswith("requires ") and not one.endswith("(as given)")]
    return found


def grade(result: Result) -> str:
    """Returns the grade of a kernel.

    - ``invalid``: it does not compile, or the question was invalid.
    - ``unsafe``: a race, an access out of bounds.
    - ``different``: another result.
    - ``open``: no error was found.
    - ``proved``.
    """
    if result.verdict == "proved" and _assumptions_of_the_author(result):
        return "open"
    if result.verdict in ("proved", "invalid"):
        return result.verdict
    if result.verdict == "refuted" and result.report is not None:
        wrong = {one.name for one in result.report.properties if one.verdict == "refuted"}
        return "different" if wrong <= {"equivalence", "overflow"} else "unsafe"
    return "unsafe" if result.verdict == "refuted" else "open"
