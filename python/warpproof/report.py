"""Reports: the results of a command, as data."""

from __future__ import annotations

import json as _json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from warpproof.errors import NotProved, Refuted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpproof.kernels import Launch

    Html = Callable[[], str]


@dataclass(frozen=True)
class Location:
    """A place in the PTX, and the source lines behind it."""

    file: str
    line: int
    column: int
    message: str = ""
    #: Files and lines: the source line first, then the places it was inlined into.
    source: tuple[tuple[str | None, int], ...] = ()

    def __str__(self) -> str:
        if self.source and self.source[0][0]:
            return f"{self.source[0][0]}:{self.source[0][1]}"
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Property:
    """The state of a property."""

    name: str
    verdict: str
    reasons: tuple[str, ...] = ()
    #: In a comparison: ``reference`` or ``optimised``.
    side: str | None = None


@dataclass(frozen=True)
class Finding:
    """Something a command found."""

    code: str
    kind: str
    severity: str
    property: str
    message: str
    note: str | None = None
    help: str | None = None
    side: str | None = None
    count: int = 1
    locations: tuple[Location, ...] = ()
    #: Threads or inputs that show it, as in the JSON.
    witness: Mapping[str, Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        place = f" ({self.locations[0]})" if self.locations else ""
        return f"{self.code} {self.message}{place}"


@dataclass(frozen=True)
class Counterexample:
    """Inputs on which a kernel and its reference differ."""

    #: All inputs of the kernel. Elements without influence are 1.
    inputs: dict[str, Any]
    #: The output that differs, and the element.
    element: tuple[str, tuple[int, ...]]
    #: The reference's value there over the reals. `None` if it is undefined.
    reference: float | None
    #: The kernel's value there over the reals.
    got: float | None
    #: Both values as expressions, the reference's first.
    expressions: tuple[str, str]
    #: Both sides gave these values when run on the inputs in interval arithmetic.
    confirmed: bool
    #: Where the element was stored, the kernel's store first.
    locations: tuple[Location, ...] = ()
    launch: Launch | None = field(default=None, repr=False)

    def replay(self, **options: Any) -> Simulation:
        """Runs the kernel on these inputs, in the floats of a GPU; see :func:`warpproof.simulate`."""
        from warpproof import api
        from warpproof.arguments import Tensor, known
        from warpproof.errors import UsageError

        if self.launch is None:
            raise UsageError("the kernel of this counterexample is not available")
        arguments: dict[str, Any] = {}
        for name, given in self.launch.arguments.items():
            tensor = as_argument(name, given)
            if name not in self.inputs:
                arguments[name] = given
            elif isinstance(tensor, Tensor):
                value = known(self.inputs[name], tensor.dtype)
                arguments[name] = Tensor(
                    tensor.dtype, tensor.shape, tensor.direction, tensor.strides, value.contents, tensor.facts
                )
            else:
                arguments[name] = self.inputs[name]
        return api.simulate(self.launch, arguments, **options)


class Report:
    """The answer of a command: ``verdict`` is ``"proved"``, ``"refuted"`` or ``"unknown"``.

    There are three answers, so a report is neither true nor false.
    """

    def __init__(
        self,
        json: str,
        text: str,
        html: Html | str,
        arguments: Mapping[str, Any] | None = None,
        launch: Launch | None = None,
        formula: str | None = None,
    ) -> None:
        self._json = json
        self._text = text.rstrip("\n")
        self._html = html
        self._arguments = dict(arguments or {})
        self._launch = launch
        #: The formula a function was traced to.
        self.formula = formula

    @cached_property
    def data(self) -> dict[str, Any]:
        """The content of ``--format json``, as dictionaries and lists."""
        data: dict[str, Any] = _json.loads(self._json)
        return data

    @cached_property
    def _all(self) -> list[dict[str, Any]]:
        """The data of each kernel: `prove` may take several."""
        return self.data["reports"] if "reports" in self.data else [self.data]

    @cached_property
    def verdict(self) -> str:
        """``"proved"``, ``"refuted"`` or ``"unknown"``; with several kernels, the worst."""
        verdicts = [one["verdict"] for one in self._all]
        if "refuted" in verdicts:
            return "refuted"
        return "proved" if verdicts and all(one == "proved" for one in verdicts) else "unknown"

    @property
    def proved(self) -> bool:
        """Returns `True` if all requested properties are proved."""
        return self.verdict == "proved"

    @property
    def refuted(self) -> bool:
        """Returns `True` if an error was demonstrated."""
        return self.verdict == "refuted"

    @property
    def unknown(self) -> bool:
        """Returns `True` if the answer is open."""
        return self.verdict == "unknown"

    @cached_property
    def kernels(self) -> dict[str, str]:
        """The verdict of each kernel, or of each entry of a project."""
        return {str(one.get("name") or one.get("kernel") or one["file"]): one["verdict"] for one in self._all}

    @cached_property
    def properties(self) -> list[Property]:
        """The state of each property."""
        return [
            Property(each["name"], each["verdict"], tuple(each["reasons"]), each.get("side"))
            for one in self._all
            for each in one["properties"]
        ]

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, errors first, as in the text."""
        return [_finding(each) for one in self._all for each in one["findings"]]

    @cached_property
    def assumptions(self) -> list[str]:
        """The assumptions of the answer."""
        return [text for one in self._all for text in one["assumptions"]]

    @cached_property
    def from_kernel(self) -> list[str]:
        """Conditions of the answer from the kernel's file: preconditions that it states, state that it leaves for the
        next launch. The kernel's author chose them, so without trust in the author the answer is not a proof.
        """
        return [text for one in self._all for text in one.get("from_kernel", [])]

    @cached_property
    def notes(self) -> list[str]:
        """Other remarks, such as lower precision."""
        return [text for one in self._all for text in [*one["notes"], *one.get("precision", [])]]

    @cached_property
    def stopped(self) -> str | None:
        """The reason why a run stopped before its end, if it did."""
        stops = [one["stopped"]["message"] for one in self._all if one.get("stopped")]
        return stops[0] if stops else None

    @property
    def stats(self) -> dict[str, Any]:
        """The costs of the run."""
        stats: dict[str, Any] = self._all[0]["stats"]
        return stats

    @cached_property
    def counterexample(self) -> Counterexample | None:
        """Inputs on which the kernel and its reference differ, as arrays. `None` if there are none."""
        for finding in self.findings:
            witness = finding.witness
            if witness and "expressions" in witness:
                return _counterexample(finding, witness, self._arguments, self._launch)
        return None

    def json(self) -> str:
        """Returns the bytes of ``--format json``, as text."""
        return self._json

    def text(self) -> str:
        """Returns the command line's output."""
        return self._text

    def html(self) -> str:
        """Returns the page of ``--report``, without its pictures."""
        if not isinstance(self._html, str):
            self._html = self._html()
        return self._html

    def raise_if_refuted(self) -> Report:
        """Raises :class:`Refuted` if there is an error; otherwise returns the report."""
        if self.refuted:
            raise Refuted(self)
        return self

    def raise_unless_proved(self) -> Report:
        """Raises :class:`NotProved` unless everything is proved; otherwise returns the report."""
        if not self.proved:
            raise NotProved(self)
        return self

    @classmethod
    def of_project(cls, json: str, messages: str) -> Report:
        """Returns the report of a project, from its JSON."""
        report = cls(json, "", "")
        lines = [brief(cls(_json.dumps(one), "", "")) for one in report._all]
        report._text = messages + "\n".join(lines)
        report._html = lambda: f"<!DOCTYPE html>\n<meta charset=utf-8>\n{report._repr_html_()}\n"
        return report

    def with_assumptions(self, texts: Sequence[str]) -> Report:
        """Returns the same report with more assumptions: the properties of the GPU that a recorded function read."""
        if not texts:
            return self
        entries = [{**one, "assumptions": [*one["assumptions"], *texts]} for one in self._all]
        data = {**self.data, "reports": entries} if "reports" in self.data else entries[0]
        lines = "".join(f"\nassumption: {text}" for text in texts)
        return Report(_json.dumps(data), self._text + lines, self._html, self._arguments, self._launch, self.formula)

    def with_formula(self, formula: str) -> Report:
        """Returns the same report with the formula a function was traced to."""
        return Report(self._json, self._text, self._html, self._arguments, self._launch, formula)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        from warpproof import _notebook

        return _notebook.render(self)

    def __bool__(self) -> bool:
        raise TypeError("a report has three answers: ask for `.proved`, `.refuted` or `.unknown`")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self._json, self._text, self.html(), self._arguments, self._launch, self.formula)


class Simulation:
    """A run on numbers: its outputs as arrays, by name."""

    def __init__(self, exit: int, text: str, arrays: list[tuple[str, bytes]], arguments: Mapping[str, Any]) -> None:
        self._exit = exit
        self._text = text.rstrip("\n")
        self._arrays = arrays
        self._arguments = dict(arguments)

    @property
    def finished(self) -> bool:
        """Returns `True` if the kernel ran to its end without an error. Only then are there outputs."""
        return self._exit == 0

    @property
    def refuted(self) -> bool:
        """Returns `True` if the run showed an error, such as an access out of bounds."""
        return self._exit == 1

    @cached_property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """Outputs, by name; bf16 becomes float32, fp8 stays raw bytes."""
        import io

        import numpy as np

        from warpproof import _arrays

        outputs = {}
        for name, data in self._arrays:
            argument = as_argument(name, self._arguments.get(name))
            outputs[name] = _arrays.decoded(np.load(io.BytesIO(data)), getattr(argument, "dtype", ""))
        return outputs

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.outputs[name]

    def text(self) -> str:
        """Returns the command line's output."""
        return self._text

    def __repr__(self) -> str:
        return self._text


def as_argument(name: str, given: Any) -> Any:
    """Returns an argument as a tensor or scalar, even if given as text or as an array."""
    from warpproof.arguments import Scalar, Tensor, as_tensor, dtype_name

    if isinstance(given, str):
        text = given[len(name) + 1 :] if given.startswith(f"{name}=") else given
        match = re.match(r"([a-z]\w*)(?:\[([\d,]*)\](?:@\[([\d,]+)\])?(?::(out|inout|scratch))?)?", text)
        if match is None:
            return given
        dtype, shape, strides, direction = match.groups()
        if shape is None:
            return Scalar(dtype_name(dtype))
        steps = None if strides is None else tuple(map(int, strides.split(",")))
        return Tensor(dtype_name(dtype), tuple(map(int, filter(None, shape.split(",")))), direction or "in", steps)
    if hasattr(given, "shape") and hasattr(given, "dtype") and not isinstance(given, Tensor) and tuple(given.shape):
        return as_tensor(given)
    return given


def _location(one: Mapping[str, Any]) -> Location:
    source = tuple((line.get("file"), line["line"]) for line in one["source"])
    return Location(one["file"], one["line"], one["column"], one.get("message", ""), source)


def _finding(one: Mapping[str, Any]) -> Finding:
    plain = {name: one.get(name) for name in ("note", "help", "side")}
    return Finding(
        one["code"],
        one["kind"],
        one["severity"],
        one["property"],
        one["message"],
        count=one["count"],
        locations=tuple(map(_location, one["locations"])),
        witness=one["witness"],
        **plain,
    )


def _counterexample(
    finding: Finding, witness: Mapping[str, Any], arguments: Mapping[str, Any], launch: Launch | None
) -> Counterexample:
    import numpy as np

    from warpproof.arguments import Tensor

    tensors = {name: as_argument(name, given) for name, given in arguments.items()}
    inputs: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and tensor.direction in ("in", "inout"):
            inputs[name] = _contents(tensor)
    for one in witness["inputs"]:
        name, _, index = one["name"].partition("[")
        if not index:
            inputs[name] = one["value"]
        elif name in inputs:
            inputs[name][tuple(int(each) for each in index.rstrip("]").split(","))] = one["value"]
    output = witness["output"]
    shape = getattr(tensors.get(output), "shape", ())
    index = tuple(int(each) for each in np.unravel_index(witness["index"], shape)) if shape else (witness["index"],)
    return Counterexample(
        inputs,
        (output, index),
        witness["values"][0],
        witness["values"][1],
        (witness["expressions"][0], witness["expressions"][1]),
        witness["confirmed"],
        finding.locations,
        launch,
    )


def _contents(tensor: Any) -> NDArray[Any]:
    """Returns a tensor's contents where a counterexample gives none: stated contents, or 1."""
    import numpy as np

    from warpproof import _arrays

    kind = np.dtype(_arrays.NUMPY.get(tensor.dtype, "f4"))
    if tensor.contents is not None and not isinstance(tensor.contents, (int, float)):
        return np.array(tensor.contents, dtype=kind)
    fill = 1 if tensor.contents is None else tensor.contents
    return np.full(tensor.shape, fill, dtype=kind)


def brief(report: Report) -> str:
    """Returns the part of a report for a failing test: findings, open questions and the counterexample."""
    if "reports" in report.data:
        return report.text()
    title = report.data.get("name") or report.data.get("kernel") or report.data["file"]
    lines = [f"{report.verdict}: {report.data['command']} {title}"]
    for finding in report.findings:
        if finding.severity != "error":
            continue
        lines.append(f"  {finding}")
        lines += [f"    {more}" for more in (finding.note, finding.help) if more]
    counterexample = report.counterexample
    if counterexample is not None:
        lines += [
            f"    reference: {_shortened(counterexample.expressions[0])}",
            f"    kernel:    {_shortened(counterexample.expressions[1])}",
            f"    with {_inputs(report)}",
        ]
    if report.stopped:
        lines.append(f"  stopped: {report.stopped}")
    for one in report.properties:
        if one.verdict == "unknown" and one.reasons:
            side = f" of the {one.side} kernel" if one.side == "optimised" else f" of the {one.side}" if one.side else ""
            lines.append(f"  open: {one.name}{side}: {'; '.join(one.reasons)}")
    return "\n".join(lines)


def _shortened(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _inputs(report: Report) -> str:
    witness = next(one.witness for one in report.findings if one.witness and "expressions" in one.witness)
    shown = [f"{one['name']} = {one['value']:.6g}" for one in witness["inputs"]]
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")
