"""Many jobs: worker processes of their own, limits for each job, results in the order of the jobs.

A job that runs out of memory or of stack ends only its own process, and its result says so. The engine is the command
``warpproof batch``; this module starts it and talks to it over pipes.
"""

from __future__ import annotations

import json as _json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Union

from warpproof.errors import UsageError
from warpproof.report import Report, brief

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    from warpproof.api import _Command

#: Most characters of a result's feedback. The rest is left out.
FEEDBACK = 1500


@dataclass(frozen=True)
class Job:
    """A command line, with texts in place of the files it names."""

    #: The words after ``warpproof``: ``("check", "k.ptx", "--grid=4")``.
    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: The name of its result. Without it, the position of the job.
    id: str | int | None = None

    def line(self) -> str:
        """Returns the line of a job file, without its newline."""
        job: dict[str, Any] = {} if self.id is None else {"id": self.id}
        job["command"] = list(self.command)
        if self.files:
            job["files"] = dict(self.files)
        return _json.dumps(job, ensure_ascii=False)


#: A job, or the object in a line of a job file.
AnyJob: TypeAlias = Union[Job, Mapping[str, Any]]


class Result:
    """The answer to a job: a line of a result file."""

    def __init__(self, line: str, index: int) -> None:
        self._line = line
        #: The position of the job, from 0.
        self.index = index

    @cached_property
    def data(self) -> dict[str, Any]:
        """The line as a dictionary."""
        data: dict[str, Any] = _json.loads(self._line)
        return data

    @property
    def id(self) -> str | int:
        """The name of the job."""
        name: str | int = self.data["id"]
        return name

    @property
    def verdict(self) -> str:
        """``"proved"``, ``"refuted"`` or ``"unknown"``; ``"invalid"`` for a job that cannot be run; ``"ran"`` for a
        simulation.
        """
        return str(self.data["verdict"])

    @property
    def proved(self) -> bool:
        """Returns `True` if all requested properties are proved."""
        return self.verdict == "proved"

    @property
    def exit(self) -> int:
        """The exit status of the command."""
        return int(self.data["exit"])

    @property
    def limit(self) -> str | None:
        """The limit that ended the job: ``"steps"``, ``"time"``, ``"memory"``, or ``"crash"``."""
        limit: str | None = self.data["limit"]
        return limit

    @property
    def messages(self) -> str:
        """Standard error of the command: the error message of an invalid job."""
        return str(self.data["messages"])

    @cached_property
    def report(self) -> Report | None:
        """The report, without a page. `None` for a job that died or was invalid."""
        if self.data.get("report") is None:
            return None
        report = Report(_json.dumps(self.data["report"], ensure_ascii=False), "", "")
        return Report(report.json(), self.messages + _brief(report), "")

    def line(self) -> str:
        """Returns the line of the result file, without its newline."""
        return self._line

    def feedback(self, most: int = FEEDBACK) -> str:
        """Returns the reasons for the verdict, short enough for a prompt."""
        if self.report is not None and self.verdict != "invalid":
            text = _brief(self.report)
        else:
            text = f"{self.verdict}: {self.messages.strip()}".rstrip(": ")
        if self.limit is not None:
            text += f"\nlimit: {self.limit}"
        return text if len(text) <= most else f"{text[: most - 1]}…"

    def __repr__(self) -> str:
        return f"<Result {self.id!r}: {self.verdict}{f' ({self.limit})' if self.limit else ''}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._line == other._line

    def __hash__(self) -> int:
        return hash(self._line)

    def __reduce__(self) -> tuple[Any, ...]:
        return Result, (self._line, self.index)


def _brief(report: Report) -> str:
    if "reports" not in report.data:
        return brief(report)
    return "\n".join(brief(Report(_json.dumps(one), "", "")) for one in report.data["reports"])


def job(function: Callable[..., Any], /, *arguments: Any, id: str | int | None = None, **keywords: Any) -> Job:
    """Returns a call as a job that has not run: ``wp.job(wp.equiv, formula, launch)`` instead of ``wp.equiv(formula,
    launch)``.
    """
    from warpproof import _host_functions, api

    if function not in (api.check, api.equiv, api.verify, api.prove, api.simulate):
        raise UsageError("a job is a call of `check`, `equiv`, `verify`, `prove` or `simulate`")
    if function is api.verify and _host_functions.is_host_function(arguments[1]):
        raise UsageError("a function that launches kernels is several comparisons: record it, and make a job of each launch")
    command = api.command_of(function, *arguments, **keywords)
    if command.files.has_any():
        raise UsageError("a job has no arrays: save them, and give `x='f32[4]=@x.npy'`")
    return Job(tuple(command.words), _texts(command), id)


def _texts(command: _Command) -> dict[str, str]:
    try:
        return {name: text.decode() for name, text in command.texts}
    except UnicodeDecodeError:
        raise UsageError("a job passes kernels as text: for a binary file, give its path") from None


def batch(
    jobs: Iterable[AnyJob],
    *,
    workers: int | None = None,
    max_instructions: int | str | None = None,
    timeout: float | None = None,
    max_memory: int | str | None = None,
    timings: bool = False,
    ray: str | None = None,
) -> Iterator[Result]:
    """Runs jobs in worker processes, and yields each result as soon as it is there, in the order of the jobs.

    Jobs may be an endless iterable: they are taken as workers become free. Limits are for each job:
    ``max_instructions`` gives the same answer everywhere, ``timeout`` (seconds) and ``max_memory`` (``"4G"``) are for
    work that executes no instructions. Results do not depend on ``workers``. ``ray`` is the address of a Ray cluster
    to run the jobs on (``"auto"``, ``"local"``).
    """
    options = _options(max_instructions, timeout, max_memory, timings)
    if ray is not None:
        from warpproof import ray as cluster

        return cluster.batch(jobs, address=ray, workers=workers, options=options)
    return _local(jobs, [*options, *([] if workers is None else [f"--workers={workers}"])])


def _options(max_instructions: Any, timeout: Any, max_memory: Any, timings: bool) -> list[str]:
    given = {"max-instructions": max_instructions, "timeout": timeout, "max-memory": max_memory}
    if isinstance(max_instructions, float):
        given["max-instructions"] = int(max_instructions)
    words = [f"--{name}={value}" for name, value in given.items() if value is not None]
    return [*words, *(["--timings"] if timings else [])]


def text_of(one: AnyJob) -> str:
    """Returns a job as a line of a job file."""
    if isinstance(one, Job):
        return one.line()
    if isinstance(one, Mapping):
        return _json.dumps(dict(one), ensure_ascii=False)
    raise UsageError(f"{type(one).__name__} is not a job; there are `wp.job(wp.check, …)`, `wp.Job(…)`, and dictionaries")


class Engine:
    """A running ``warpproof batch``, which takes jobs and gives results over pipes."""

    def __init__(self, options: list[str], folder: str | None = None) -> None:
        command = [sys.executable, "-m", "warpproof", "batch", "-", "-o", "-", *options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=_environment(), cwd=folder)
        self.messages = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.messages = self.process.stderr.read()

    @property
    def tasks(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def answers(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, line: str) -> None:
        """Sends a job."""
        self.tasks.write(line.encode() + b"\n")
        self.tasks.flush()

    def receive(self) -> str | None:
        """Waits for a result. `None` at the end."""
        line = self.answers.readline()
        return line.decode().rstrip("\n") if line.endswith(b"\n") else None

    def close(self) -> None:
        """Closes the engine's input: there are no more jobs."""
        try:
            self.tasks.close()
        except BrokenPipeError:
            pass

    def finish(self) -> None:
        """Waits for the end, and raises the engine's errors."""
        self.close()
        status = self.process.wait()
        self._listener.join()
        if status != 0:
            text = self.messages.decode(errors="replace").strip()
            raise UsageError(text[len("error: ") :] if text.startswith("error: ") else text or f"exit status {status}")

    def kill(self) -> None:
        """Kills the engine and its workers at once."""
        if self.process.poll() is None:
            # Workers notice the end of their pipes, and kill the processes they started.
            self.process.kill()
        self.process.wait()
        self.close()
        self.answers.close()


def _environment() -> dict[str, str]:
    """Returns environment variables with which a new process finds this package, however this process found it."""
    from pathlib import Path

    import warpproof

    home = str(Path(warpproof.__file__).parents[1])
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, home])}


def _local(jobs: Iterable[AnyJob], options: list[str]) -> Iterator[Result]:
    engine = Engine(options)
    failures: list[BaseException] = []

    def feed() -> None:
        try:
            for one in jobs:
                engine.send(text_of(one))
        except BrokenPipeError:
            # The engine has ended; its messages give the reason.
            pass
        except BaseException as failure:
            failures.append(failure)
        finally:
            engine.close()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        index = 0
        while (line := engine.receive()) is not None:
            yield Result(line, index)
            index += 1
        if engine.process.wait() == 0:
            feeder.join()
        engine.finish()
    finally:
        engine.kill()
    if failures:
        raise failures[0]
