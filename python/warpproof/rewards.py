"""Rewards for models that write kernels: 1 for a proof, 0 for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator

from warpproof.batches import FEEDBACK, AnyJob, Result, batch

#: Most instructions of a job, counted for each thread. Steps and not seconds, so that a job gets the same answer
#: everywhere.
STEPS = 2_000_000_000
#: Most seconds and bytes of a job, for work that executes no instructions.
SECONDS = 300.0
MEMORY = "4G"

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
        own = _brought_about(result)
        reward = 1.0 if result.verdict == "proved" and not own else 0.0
        text = result.feedback(self.feedback)
        if result.verdict == "proved" and own:
            text = f"not rewarded, because the kernel itself brings this about: {own[0]}\n{text}"[: self.feedback]
        return Scored(reward, text, result, GRADES[grade(result)] if self.grades else None)


def reward(job: AnyJob, **options: Any) -> Scored:
    """Scores one job; options are those of :class:`Reward`."""
    (scored,) = Reward(workers=1, **options)([job])
    return scored


def _brought_about(result: Result) -> list[str]:
    """Returns what the kernel's author made the answer depend on: a proof under that answers the author's question."""
    return result.report.from_kernel if result.report is not None else []


def grade(result: Result) -> str:
    """Returns the grade of a kernel.

    - ``invalid``: it does not compile, or the question was invalid.
    - ``unsafe``: a race, an access out of bounds.
    - ``different``: another result.
    - ``open``: no error was found.
    - ``proved``.
    """
    if result.verdict == "proved" and _brought_about(result):
        return "open"
    if result.verdict in ("proved", "invalid"):
        return result.verdict
    if result.verdict == "refuted" and result.report is not None:
        wrong = {one.name for one in result.report.properties if one.verdict == "refuted"}
        return "different" if wrong <= {"equivalence", "overflow"} else "unsafe"
    return "unsafe" if result.verdict == "refuted" else "open"
