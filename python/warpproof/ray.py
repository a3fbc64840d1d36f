"""Batches on a Ray cluster: one job a task, the same engine inside each Ray worker, the same results.

A task starts ``warpproof batch`` with one worker of its own. So a job that runs out of memory ends only that worker,
and its answer is the limit. Only the death of a Ray worker or a node is left to Ray, which runs the task again
elsewhere. A task is a function of its job, so running it twice is harmless.
"""

from __future__ import annotations

import hashlib
import json as _json
import os
import re
import sys
from collections import OrderedDict, deque
from typing import Any, Callable, Iterable, Iterator

from warpproof.batches import AnyJob, Engine, Result, text_of
from warpproof.errors import UsageError

#: Retries of a task after the death of its worker or node.
RETRIES = 5
#: Jobs sent to the cluster together. A task costs Ray some milliseconds, as does a small job.
JOBS_PER_TASK = 16
#: Answers kept for equal jobs.
MAX_KEPT_ANSWERS = 4096
#: Tasks in flight for each processor of the cluster.
TASKS_PER_PROCESSOR = 2


class _Runner:
    """The engine of a Ray worker, kept for later tasks."""

    engines: dict[tuple[str, ...], Engine] = {}


def answers_of(lines: list[str], options: list[str], folder: str) -> list[str]:
    """Answers jobs in this process's own engine: the body of a task."""
    key = (folder, *options)
    engine = _Runner.engines.get(key)
    if engine is None or engine.process.poll() is not None:
        engine = _Runner.engines[key] = Engine([*options, "--workers=1"], folder)
    answers = []
    for line in lines:
        engine.send(line)
    for _ in lines:
        answer = engine.receive()
        if answer is None:
            del _Runner.engines[key]
            engine.finish()
            raise RuntimeError("the engine ended early")
        answers.append(answer)
    return answers


def batch(jobs: Iterable[AnyJob], *, address: str, workers: int | None, options: list[str]) -> Iterator[Result]:
    """Runs jobs on a cluster, and yields a result for each in the order of the jobs."""
    numbered = ((index, text_of(one)) for index, one in enumerate(jobs))
    for index, line in _run(numbered, address, workers, options, os.getcwd()):
        yield Result(line, index)


def _run(
    jobs: Iterable[tuple[int, str]], address: str, workers: int | None, options: list[str], folder: str
) -> Iterator[tuple[int, str]]:
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed: pip install 'warpproof[ray]'") from None

    owns = not ray.is_initialized()
    if owns:
        ray.init(address=None if address == "local" else address, log_to_driver=False, include_dashboard=False)
    try:
        nodes: Any = ray.nodes
        memory: Any = reserved(options, [node for node in nodes() if node["Alive"]])
        task = ray.remote(num_cpus=1, memory=memory, max_retries=RETRIES)(answers_of)
        resources: Any = ray.cluster_resources
        processors = workers or max(1, int(resources().get("CPU", 1)))
        yield from _in_order(ray, lambda lines: task.remote(lines, options, folder), jobs, TASKS_PER_PROCESSOR * processors)
    finally:
        if owns:
            ray.shutdown()


def reserved(options: list[str], nodes: list[dict[str, Any]]) -> int | None:
    """Returns the bytes that a task reserves on its node: the memory limit of its jobs, if one is given.

    Ray would wait for ever for a node that is large enough, so it is an error if there is none.
    """
    limits = [word.partition("=")[2] for word in options if word.startswith("--max-memory=")]
    if not limits:
        return None
    memory = _bytes(limits[-1])
    largest = max((int(node["Resources"].get("memory", 0)) for node in nodes), default=0)
    if memory is not None and memory > largest:
        raise UsageError(f"--max-memory {limits[-1]}: the largest node of the cluster has {largest >> 20} MiB for tasks")
    return memory


def _bytes(text: str) -> int | None:
    """Reads a size as the command line does: 512M, 4GiB. `None` if it is none, which the engine reports."""
    read = re.fullmatch(r"(\d+)(?:B|([KMGT])(?:iB)?|(k))?", text)
    if read is None:
        return None
    number, unit, small = read.groups()
    return int(number) << 10 * " KMGT".index(unit or (small or " ").upper())


def _in_order(
    ray: Any, start: Callable[[list[str]], Any], jobs: Iterable[tuple[int, str]], most: int
) -> Iterator[tuple[int, str]]:
    """Keeps some tasks in flight, and yields results in the order of the jobs, each once."""
    waiting: deque[tuple[list[int], Any]] = deque()
    source = iter(jobs)
    ended = False
    #: Equal jobs are answered once, and the answer is copied, as without a cluster.
    copies = _Copies()
    while waiting or not ended:
        while not ended and len(waiting) < most:
            some = [job for _, job in zip(range(JOBS_PER_TASK), source)]
            ended = len(some) < JOBS_PER_TASK
            if some:
                asked = [line for index, line in some if copies.is_first(index, line)]
                waiting.append(([index for index, _ in some], start(asked) if asked else None))
        if waiting:
            indices, reference = waiting.popleft()
            answers = iter(ray.get(reference) if reference is not None else [])
            yield from copies.joined(indices, answers)


class _Copies:
    """Equal jobs: the first is run, and the others get its answer.

    Only the last answers are kept. A job whose equal is too far back runs again, with the same answer.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._pending: dict[int, tuple[bytes, str, bool]] = {}
        self._answers: OrderedDict[bytes, str] = OrderedDict()
        #: Jobs in flight, by content.
        self._wanted: dict[bytes, int] = {}

    def is_first(self, index: int, line: str) -> bool:
        """Registers a job, and returns `True` if it must be run."""
        key, name = _content(line, index)
        first = self._first.setdefault(key, index) == index
        self._pending[index] = (key, name, first)
        self._wanted[key] = self._wanted.get(key, 0) + 1
        return first

    def joined(self, indices: list[int], answers: Iterator[str]) -> Iterator[tuple[int, str]]:
        """Yields an answer for each job: its own, or that of an equal job."""
        for index in indices:
            key, name, first = self._pending.pop(index)
            if first:
                # The engine answers in the order of the jobs.
                self._answers[key] = next(answers)
            self._answers.move_to_end(key)
            yield index, _renamed(self._answers[key], name)
            self._wanted[key] -= 1
            self._forget()

    def _forget(self) -> None:
        while len(self._answers) > MAX_KEPT_ANSWERS:
            key = next(iter(self._answers))
            if self._wanted[key]:
                return
            del self._answers[key], self._first[key], self._wanted[key]


def _content(line: str, index: int) -> tuple[bytes, str]:
    """Returns a hash of a job without its name, and the name as JSON."""
    try:
        job = _json.loads(line)
        name = job.pop("id", index)
        text = _json.dumps(job, sort_keys=True)
    except (ValueError, AttributeError, TypeError):
        return hashlib.sha256(line.encode()).digest(), str(index)
    # As in the engine: other values are not names.
    if not isinstance(name, str) and (type(name) is not int or not -(2**63) <= name < 2**64):
        name = index
    return hashlib.sha256(text.encode()).digest(), _json.dumps(name, ensure_ascii=False)


def _renamed(answer: str, name: str) -> str:
    """Returns an answer with another name."""
    _, mark, rest = answer.partition(',"job":"')
    return f'{{"id":{name}{mark}{rest}'


def main(words: list[str]) -> int:
    """The command line: ``python -m warpproof batch JOBS.jsonl -o RESULTS.jsonl --ray ADDRESS``."""
    import argparse
    import os
    from pathlib import Path

    parser = argparse.ArgumentParser(prog="warpproof batch", description="Run many jobs on a Ray cluster.")
    parser.add_argument("jobs", metavar="JOBS.jsonl")
    parser.add_argument("-o", "--output", required=True, metavar="RESULTS.jsonl")
    parser.add_argument("--ray", required=True, metavar="ADDRESS", help="auto, local, or the address of a cluster")
    parser.add_argument("-j", "--workers", type=int, metavar="N")
    parser.add_argument("--resume", action="store_true")
    for name in ("max-instructions", "timeout", "max-memory"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args(words)
    options = [
        f"--{name}={value}"
        for name in ("max-instructions", "timeout", "max-memory")
        if (value := getattr(given, name.replace("-", "_"))) is not None
    ]
    folder = os.getcwd() if given.jobs == "-" else str(Path(given.jobs).resolve().parent)
    is_stdin, is_stdout = given.jobs == "-", given.output == "-"
    counts: dict[str, int] = {}
    try:
        with open(sys.stdin.fileno() if is_stdin else given.jobs, encoding="utf-8", closefd=not is_stdin) as source:
            lines = (line.strip() for line in source)
            numbered = enumerate(line for line in lines if line)
            if not is_stdout:
                _skip(Path(given.output), given.resume, numbered)
            with open(sys.stdout.fileno() if is_stdout else given.output, "ab", closefd=not is_stdout) as output:
                for _, line in _run(numbered, given.ray, given.workers, options, folder):
                    output.write(line.encode() + b"\n")
                    output.flush()
                    verdict = _json.loads(line)["verdict"]
                    counts[verdict] = counts.get(verdict, 0) + 1
    except (UsageError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    total = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{sum(counts.values())} jobs: {total}", file=sys.stderr)
    return 0


def _skip(path: Any, resume: bool, jobs: Iterator[tuple[int, str]]) -> None:
    """Skips the jobs that already have a line in a result file, and cuts off a torn last line.

    Each line must have the name of its job.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    if not resume:
        raise UsageError(f"{path} already contains results: continue them with --resume, or choose another file")
    end = 0
    with open(path, "rb+") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            index, job = next(jobs, (0, None))
            if job is None:
                raise UsageError(f"{path} has more results than there are jobs")
            own, name = _json.loads(line)["id"], _json.loads(_content(job, index)[1])
            if own != name:
                raise UsageError(f"{path}: result {index + 1} belongs to {own!r}, but job {index + 1} is {name!r}")
            end += len(line)
        file.truncate(end)
