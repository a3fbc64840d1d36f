"""The commands as functions. Options have the names and meanings of the command line."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from typing import Any, Callable, Iterable, Mapping, Sequence

from warpproof import _native
from warpproof.arguments import Files, texts
from warpproof.errors import UsageError
from warpproof.kernels import Dimensions, Kernel, Launch, as_kernel, as_launch, dimensions, stem
from warpproof.report import Report, Simulation

def check(
    kernel: Any,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    grid: Dimensions | None = None,
    block: Dimensions | None = None,
    shared: int | str | None = None,
    cluster: Dimensions | None = None,
    blocks: Any = None,
    alias: Iterable[Sequence[str]] = (),
    symbol: Mapping[str, Any] | None = None,
    strict: bool = False,
    allow: str | Iterable[str] = (),
    warp_synchronous: bool = False,
    timeout: float | None = None,
    max_instructions: int | str | None = None,
    jobs: int | None = None,
    arch: str | None = None,
    include: str | Iterable[str] = (),
    inline_math: bool = False,
    no_cache: bool = False,
    **more: Any,
) -> Report:
    """Looks for races, misused barriers, deadlocks and memory errors in a launch, for all contents of the tensors.

    Arguments of the kernel are keywords, by name or in the order of its parameters: ``x=wp.f32(4, 256)``. An argument
    with the name of an option goes into ``arguments``.
    """
    command = _Command("check")
    command.kernel(_launch(kernel, grid, block, shared, cluster), {**(arguments or {}), **more})
    command.option(blocks=blocks, strict=strict, allow=allow, warp_synchronous=warp_synchronous)
    command.limits(timeout, max_instructions, jobs)
    command.compiling(arch, include, inline_math, no_cache)
    command.others(alias, symbol)
    return command.report()


def equiv(
    reference: Any,
    kernel: Any,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    grid: Dimensions | None = None,
    block: Dimensions | None = None,
    shared: int | str | None = None,
    cluster: Dimensions | None = None,
    ref_arguments: Mapping[str, Any] | None = None,
    blocks: Any = None,
    alias: Iterable[Sequence[str]] = (),
    symbol: Mapping[str, Any] | None = None,
    assume: str | Iterable[str] = (),
    compare: str | Iterable[str] = (),
    strict: bool = False,
    snap: bool = True,
    recheck: bool = False,
    allow: str | Iterable[str] = (),
    timeout: float | None = None,
    max_instructions: int | str | None = None,
    jobs: int | None = None,
    arch: str | None = None,
    include: str | Iterable[str] = (),
    inline_math: bool = False,
    no_cache: bool = False,
    **more: Any,
) -> Report:
    """Compares a kernel with a reference: are the outputs the same over the reals, for all contents of the tensors?

    The reference is a formula (``"y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))"``), or another kernel with a launch of
    its own. Tensors of the same name are the same. Arguments of the reference alone go into its launch or
    ``ref_arguments``.
    """
    optimised = _launch(kernel, grid, block, shared, cluster)
    given = {**(arguments or {}), **more}
    command = _Command("equiv")
    if is_formula(reference):
        command.words.append(f"--ref={reference}")
        command.kernel(optimised, given)
        command.several("ref-arg", texts(ref_arguments or {}, command.files))
    else:
        other = as_launch(reference)
        if not isinstance(reference, Launch) and other.grid is None:
            other = _launch(reference, grid, block if as_kernel(reference).block is None else None, None, cluster)
        command.pair(other, optimised, given, ref_arguments)
    command.option(blocks=blocks, assume=assume, compare=compare, strict=strict, no_snap=not snap)
    command.option(recheck=recheck, allow=allow)
    command.limits(timeout, max_instructions, jobs)
    command.compiling(arch, include, inline_math, no_cache)
    command.others(alias, symbol)
    return command.report()


def verify(reference: Any, kernel: Any, arguments: Mapping[str, Any] | None = None, /, **keywords: Any) -> Report:
    """Compares a kernel with a reference that may be a Python function, of NumPy or torch.

    The function is called with the kernel's inputs, by the names of its parameters, and its results are the kernel's
    outputs in their order. It is traced to a formula, shown by ``report.formula``. Everything else is as for
    :func:`equiv`.

    The kernel may also be a function of torch that launches Triton kernels. It is recorded without a GPU, on tensors
    given by name, and each configuration of an autotuned kernel is compared. With ``shapes="reduced"`` the comparison
    is at small shapes, with ``shapes={"x": (4, 200)}`` at these, and every launch is checked at the shapes of the
    arguments.
    """
    from warpproof import _host_functions

    if _host_functions.is_host_function(kernel):
        given = dict(keywords)
        options = {name: given.pop(name) for name in _host_functions.OPTIONS if name in given}
        return _host_functions.verify(reference, kernel, {**(arguments or {}), **given}, **options)
    if "shapes" in keywords:
        raise UsageError("`shapes=` needs the function that launches the kernel: a launch has sizes and a grid that are numbers")
    if not callable(reference) or isinstance(reference, (Kernel, Launch)):
        return equiv(reference, kernel, arguments, **keywords)
    from warpproof import _functions

    kernel = as_launch(kernel)
    formula, own = _functions.formula(reference, kernel, {**(arguments or {}), **keywords})
    own.update(keywords.pop("ref_arguments", None) or {})
    report = equiv(formula, kernel, arguments, ref_arguments=own, **keywords)
    return report.with_formula(formula)


def prove(
    kernel: Any,
    *,
    ensures: str | None = None,
    arguments: Mapping[str, str | int] | None = None,
    requires: str | Iterable[str] = (),
    infer: str | None = None,
    strict: bool = False,
    timeout: float | None = None,
    jobs: int | None = None,
    solver: str | os.PathLike[str] | None = None,
    second_solver: str | os.PathLike[str] | None = None,
    no_solver: bool = False,
    no_cache: bool = False,
    no_compare: bool = False,
    arch: str | None = None,
    include: str | Iterable[str] = (),
    define: str | Iterable[str] = (),
) -> Report:
    """Proves kernels in CUDA C for every launch and size that their comments allow.

    ``ensures`` is a formula that one kernel computes for all sizes. ``arguments`` gives its tensors their sizes in
    terms of the kernel's parameters (``{"C": "f32[m,n]"}``), and ``requires`` are conditions on launches.

    ``pip install 'warpproof[prove]'`` brings z3, which is asked where the methods of Warpproof do not decide.
    """
    command = _Command("prove")
    one = as_kernel(kernel)
    command.words.append(command.file(one, one.file))
    if solver is None and not no_solver:
        solver = _solver_of_environment()
    command.option(ensures=ensures, requires=requires)
    command.option(arg=[f"{name}={value}" for name, value in (arguments or {}).items()])
    command.option(infer=infer, strict=strict, timeout=timeout, jobs=jobs)
    command.option(solver=solver, second_solver=second_solver, no_solver=no_solver)
    command.option(no_cache=no_cache, no_compare=no_compare, arch=arch or one.arch)
    command.option(include=[*one.include, *_as_list(include)], define=define)
    return command.report()


def run(project: str | os.PathLike[str] = ".", *names: str, jobs: int | None = None, no_cache: bool = False) -> Report:
    """Runs the checks and comparisons of a project file (``warpproof.toml``), or only the entries named."""
    command = _Command("run")
    command.words += [os.fspath(project), *names]
    command.option(jobs=jobs, no_cache=no_cache)
    called = _native.call([*command.words, "--format=json"], [], sys.prefix)
    if called.exit == 2:
        # Errors in an entry are only in the text.
        raise UsageError(_usage_message(_native.call(command.words, [], sys.prefix)))
    return Report.of_project(called.output, called.messages)


def simulate(
    kernel: Any,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    grid: Dimensions | None = None,
    block: Dimensions | None = None,
    shared: int | str | None = None,
    cluster: Dimensions | None = None,
    blocks: Any = None,
    alias: Iterable[Sequence[str]] = (),
    symbol: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    max_instructions: int | str | None = None,
    jobs: int | None = None,
    arch: str | None = None,
    include: str | Iterable[str] = (),
    no_cache: bool = False,
    **more: Any,
) -> Simulation:
    """Runs a kernel on numbers, without a GPU, and checks its memory accesses on the way.

    Arrays are passed with their contents.
    """
    from warpproof.arguments import known

    given = {**(arguments or {}), **more}
    launch = _launch(kernel, grid, block, shared, cluster)
    arrays = {**launch.arguments, **given}
    given = {name: known(value) if _is_array(value) else value for name, value in arrays.items()}
    command = _Command("simulate")
    command.kernel(launch, given)
    command.option(blocks=blocks)
    command.limits(timeout, max_instructions, jobs)
    command.compiling(arch, include, False, no_cache)
    command.others(alias, symbol)
    return command.simulation()


def is_formula(reference: Any) -> bool:
    """Returns `True` for a formula, `False` for the path or text of a kernel."""
    if not isinstance(reference, str) or ".version" in reference or "__global__" in reference:
        return False
    return "=" in reference and not os.path.exists(reference)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "__array__") and tuple(value.shape) != ()


def _launch(kernel: Any, grid: Any, block: Any, shared: Any, cluster: Any) -> Launch:
    """Returns the launch of a kernel, completed by keywords."""
    from dataclasses import replace

    launch = as_launch(kernel)
    given = {"grid": grid, "block": block, "shared": shared, "cluster": cluster}
    return replace(launch, **{name: value for name, value in given.items() if value is not None})


def _as_list(given: Any) -> list[str]:
    """Returns one text or several as a list."""
    if given is None:
        return []
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(one) for one in given]


def _solver_of_environment() -> str | None:
    """Returns the z3 installed beside this Python, unless another is named or on the path."""
    import shutil
    from pathlib import Path

    if os.environ.get("WARPPROOF_Z3") or shutil.which("z3"):
        return None
    beside = Path(sys.executable).parent / "z3"
    return str(beside) if beside.exists() else None


class _Kept(Exception):
    """A command that was put together and must not run."""

    def __init__(self, command: _Command) -> None:
        super().__init__()
        self.command = command


#: Is a command kept instead of run, in this thread?
_KEEPS: ContextVar[bool] = ContextVar("_KEEPS", default=False)


def command_of(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> _Command:
    """Returns the command that a call would run, without running it."""
    token = _KEEPS.set(True)
    try:
        function(*arguments, **keywords)
    except _Kept as kept:
        return kept.command
    finally:
        _KEEPS.reset(token)
    raise UsageError("this call runs no command")


class _Command:
    """A command line under construction."""

    def __init__(self, name: str) -> None:
        self.words = [name]
        self.texts: list[tuple[str, bytes]] = []
        self.files = Files()
        #: The launch and its arguments, for counterexamples.
        self.launch: Launch | None = None
        self.arguments: dict[str, Any] = {}

    def file(self, kernel: Kernel, name: str) -> str:
        """Adds the text of a kernel under a name, and returns the word for it."""
        self.texts += [(path, text.encode()) for path, text in kernel.sources]
        if kernel.source is not None:
            text = kernel.source
            self.texts.append((name, text.encode() if isinstance(text, str) else text))
        return name if kernel.name is None else f"{name}::{kernel.name}"

    def kernel(self, launch: Launch, given: Mapping[str, Any]) -> None:
        """Adds the only kernel of the command."""
        launch = launch.resolved(given)
        self.words.append(self.file(launch.kernel, launch.kernel.file))
        self.placed(launch, "")
        self.arguments = dict(launch.arguments)
        self.launch = launch
        self.several("arg", texts(launch.arguments, self.files))

    def pair(
        self, reference: Launch, optimised: Launch, given: Mapping[str, Any], own: Mapping[str, Any] | None
    ) -> None:
        """Adds the two kernels of a comparison."""
        common = {**optimised.arguments, **given}
        optimised = optimised.resolved(given)
        if own is None and not reference.arguments:
            own = _wanted(reference.kernel, common)
        reference = reference.resolved(own or {})
        name = reference.kernel.file
        if name == optimised.kernel.file and reference.kernel.source != optimised.kernel.source:
            name = f"reference{stem(reference.kernel)}"
        self.words.append(self.file(reference.kernel, name))
        self.words.append(self.file(optimised.kernel, optimised.kernel.file))
        self.placed(reference, "ref-")
        self.placed(optimised, "opt-")
        self.arguments = {**reference.arguments, **optimised.arguments}
        self.launch = optimised
        self.several("ref-arg", texts(reference.arguments, self.files))
        self.several("opt-arg", texts(optimised.arguments, self.files))

    def placed(self, launch: Launch, side: str) -> None:
        """Adds the launch of a kernel."""
        for word, value in (("grid", launch.grid), ("block", launch.block), ("cluster", launch.cluster)):
            if value is not None:
                self.words.append(f"--{side}{word}={dimensions(value)}")
        if launch.shared is not None:
            self.words.append(f"--{side}smem={launch.shared}")
        kernel = launch.kernel
        self.option(arch=kernel.arch if kernel.arch and not self.has("--arch") else None, include=kernel.include)

    def has(self, word: str) -> bool:
        return any(one.startswith(f"{word}=") for one in self.words)

    def several(self, word: str, values: Iterable[str]) -> None:
        """Adds an option once for each value."""
        self.words += [f"--{word}={value}" for value in values]

    def option(self, **options: Any) -> None:
        """Adds options: flags that are true, lists once for each element, other values that are not `None`."""
        for name, value in options.items():
            word = name.replace("_", "-")
            if value is None or value is False:
                continue
            if value is True:
                self.words.append(f"--{word}")
            elif isinstance(value, (str, int, float, os.PathLike)):
                self.words.append(f"--{word}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
            else:
                self.several(word, (os.fspath(one) if isinstance(one, os.PathLike) else str(one) for one in value))

    def limits(self, timeout: float | None, max_instructions: int | str | None, jobs: int | None) -> None:
        if isinstance(max_instructions, float):
            max_instructions = int(max_instructions)
        self.option(timeout=timeout, max_instructions=max_instructions, jobs=jobs)

    def compiling(self, arch: str | None, include: Any, inline_math: bool, no_cache: bool) -> None:
        if arch is not None and self.has("--arch"):
            self.words = [word for word in self.words if not word.startswith("--arch=")]
        self.option(arch=arch, include=_as_list(include), inline_math=inline_math, no_cache=no_cache)

    def others(self, alias: Iterable[Sequence[str]], symbol: Mapping[str, Any] | None) -> None:
        self.several("alias", (names if isinstance(names, str) else ",".join(names) for names in alias))
        self.several("symbol", texts(symbol or {}, self.files))

    def call(self) -> _native.Called:
        """Runs the command. Raises a usage error; Ctrl-C carries the report so far."""
        if _KEEPS.get():
            raise _Kept(self)
        with self.files:
            try:
                called = _native.call(self.words, self.texts, sys.prefix)
            except KeyboardInterrupt as interrupt:
                partial = getattr(interrupt, "called", None)
                if partial is not None and partial.json() is not None:
                    interrupt.report = self.made(partial)  # type: ignore[attr-defined]
                raise
            except _native.Bug as bug:
                raise _native.Bug(
                    f"this is a bug in Warpproof {_native.version().splitlines()[0]}, not in your kernel; please report it: {bug}"
                ) from None
            if called.exit == 2:
                raise UsageError(self.files.without_paths(_usage_message(called)))
            return called

    def report(self) -> Report:
        return self.made(self.call())

    def made(self, called: _native.Called) -> Report:
        json = called.json()
        if json is None:
            raise UsageError(_usage_message(called))
        clean = self.files.without_paths
        text = clean(called.messages + called.output)
        return Report(clean(json), text, lambda: clean(called.html()), self.arguments, self.launch)

    def simulation(self) -> Simulation:
        called = self.call()
        text = self.files.without_paths(called.messages + called.output)
        return Simulation(called.exit, text, called.arrays, self.arguments)


def _usage_message(called: _native.Called) -> str:
    """Returns the message of a usage error, without the prefix of the terminal output."""
    text = (called.messages + called.output).strip()
    return text[len("error: ") :] if text.startswith("error: ") else text


def _wanted(kernel: Kernel, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the arguments that a reference has if its parameter names are known, otherwise all of them."""
    names = getattr(getattr(kernel, "fn", None), "arg_names", None) or kernel.parameters
    return given if names is None else {name: value for name, value in given.items() if name in names}
