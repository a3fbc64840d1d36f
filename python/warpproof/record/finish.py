"""Turns a run into steps: names results, drops unneeded formulas, decides directions of arguments."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from ..trace.errors import Untraceable
from ..trace.numbers import closed_form
from .memory import DEFINED, FILLED, INPUT, UNDEFINED, Segment, Storage
from .project import Formula, Launch, Variant
from .recorder import UNUSED, FormulaStep, LaunchStep, Pass, Run


def finished(run: Run, names: Optional[Sequence[str]], parts: bool = False) -> Variant:
    """Returns the steps of a run, with its results under the given names, by default `y` or `y0`, `y1`, ….

    With `parts` a launch may write a part of memory that is used later.
    """
    recorder, results = run.recorder, run.results
    wanted = list(names or (["y"] if len(results) == 1 else [f"y{n}" for n in range(len(results))]))
    if len(wanted) != len(results):
        raise Untraceable(f"the function returns {len(results)} tensors, but {len(wanted)} names are given: {', '.join(wanted)}")
    kept: list[Storage] = []
    for tensor, name in zip(results, wanted):
        kept.append(_result(run, tensor, name, kept))
    _give_contents(run, kept, parts)
    needed = {storage.name for storage in kept}
    steps: list[Any] = []
    launched = {one.storage.name for step in recorder.steps if isinstance(step, LaunchStep) for one in step.arguments if one.storage is not None}
    for step in reversed(recorder.steps):
        made = _launch(step, needed) if isinstance(step, LaunchStep) else _formula(step, needed, launched)
        if made is not None:
            steps.append(made)
    steps.reverse()
    if parts and len(steps) > 1 and any(isinstance(step, Launch) and step.alias for step in steps):
        raise Untraceable("one tensor as two arguments of a launch, among other steps")
    used = {name for step in steps for name in step.uses}
    inputs = [s for s in recorder.all if s.state == INPUT and s.name in used]
    return Variant(
        steps,
        [(s.name, s.dtype, s.shape) for s in inputs],
        [(s.name, s.dtype, s.shape) for s in kept],
        {s.name: s.path for s in inputs if s.path is not None},
        [operation for step in recorder.steps if isinstance(step, FormulaStep) for operation in step.operations],
        run.structure,
    )


def _give_contents(run: Run, results: Sequence[Storage], parts: bool) -> None:
    """Gives memory contents of its own, any, if several launches write it: each of them may write a part.

    With `parts` that holds for memory that one launch writes, too, if it is used later. A result that one launch
    writes has none: that launch must write it whole.
    """
    recorder = run.recorder
    for storage in list(recorder.all):
        uses = [n for n, step in enumerate(recorder.steps) if _uses(step, storage)]
        first = next((n for n in uses if isinstance(recorder.steps[n], LaunchStep) and _passed(recorder.steps[n], storage)[0].written), None)
        if first is None or _passed(recorder.steps[first], storage)[0].state != UNDEFINED or not any(n > first for n in uses):
            continue
        writers = [n for n in uses if isinstance(recorder.steps[n], LaunchStep) and _passed(recorder.steps[n], storage)[0].written]
        if len(writers) == 1 and (storage in results or not parts):
            continue
        segment = Segment(sorted(recorder.names))
        segment.define(storage, segment.whole(recorder.contents_of(storage)))
        recorder.steps.insert(first, FormulaStep(segment))
        for step in recorder.steps[first:]:
            for one in _passed(step, storage) if isinstance(step, LaunchStep) else ():
                one.state = DEFINED


def _passed(step: LaunchStep, storage: Storage) -> list[Pass]:
    return [one for one in step.arguments if one.storage is storage]


def _uses(step: Any, storage: Storage) -> bool:
    if isinstance(step, LaunchStep):
        return bool(_passed(step, storage))
    return storage in step.segment.inputs.values() or storage.name in step.segment.outputs


def _result(run: Run, tensor: Any, name: str, kept: list[Storage]) -> Storage:
    """Gives the storage of a result its name. A result that is a view is copied by a formula."""
    recorder = run.recorder
    storage = recorder.of(tensor)
    if not tensor.is_cuda:
        raise Untraceable(f"the result `{name}` is in the memory of the CPU")
    if storage.state == UNDEFINED:
        raise Untraceable(f"the result `{name}` is memory that nothing has written")
    free = storage.state == DEFINED and storage not in kept and not _is_read(run, storage)
    if free and (storage.is_whole(tensor) or _reshaped(run, storage, tensor)):
        _rename(run, storage, name)
        return storage
    step = recorder.open("view")
    value = storage.view(step.segment.whole(storage), tensor)
    strides = tuple(tensor.stride()) if tensor.is_contiguous() else _row_major(tuple(tensor.shape))
    made = Storage(recorder.fresh(name), storage.dtype, tuple(tensor.shape), strides, 0, DEFINED)
    step.segment.define(made, value)
    return made


def _is_read(run: Run, storage: Storage) -> bool:
    """Returns `True` if a formula reads a storage, and so has its name in its text."""
    return any(isinstance(s, FormulaStep) and storage.name in s.segment.inputs for s in run.recorder.steps)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, total = [], 1
    for extent in reversed(shape):
        strides.append(total)
        total *= extent
    return tuple(strides[::-1])


def _reshaped(run: Run, storage: Storage, tensor: Any) -> bool:
    """Gives a storage used only by launches the shape of the result, if that is row-major and whole."""
    whole = tensor.storage_offset() == storage.offset and tensor.is_contiguous() and storage.keep is not None
    whole = (
        whole
        and storage.keep.is_contiguous()
        and storage.keep.numel() == tensor.numel()
        and storage.dtype == _dtype(tensor)
    )
    for step in run.recorder.steps:
        if isinstance(step, FormulaStep) and (storage in step.segment.values or storage.name in step.segment.outputs):
            return False
    if whole:
        storage.shape, storage.strides = tuple(tensor.shape), tuple(tensor.stride())
    return bool(whole)


def _dtype(tensor: Any) -> str:
    from ..trace.torch import dtype_name

    return dtype_name(tensor.dtype)


def _rename(run: Run, storage: Storage, name: str) -> None:
    """Renames a storage in the steps that define it."""
    recorder = run.recorder
    if name in recorder.names:
        name = recorder.fresh(name)
    for step in recorder.steps:
        if isinstance(step, FormulaStep):
            if storage.name in step.segment.outputs:
                step.segment.outputs[name] = step.segment.outputs.pop(storage.name)
    recorder.names.add(name)
    storage.name = name


def _formula(step: FormulaStep, needed: set[str], launched: set[str]) -> Optional[Formula]:
    text, inputs, outputs = step.segment.text(needed)
    if not outputs:
        return None
    # A formula has no strides, and a launch reads memory.
    passed = [s for s in [*(step.segment.inputs[n] for n in inputs), *outputs] if s.state != INPUT and s.name in launched]
    strided = next((s.name for s in passed if _is_strided(s)), None)
    if strided is not None:
        raise Untraceable(f"operations of torch make or read `{strided}`, which is not row-major in memory", "write `.contiguous()`")
    needed.difference_update(s.name for s in outputs)
    needed.update(inputs)
    shapes = [(s.name, s.dtype, s.shape) for s in outputs]
    return Formula(
        text,
        [(s.name, s.dtype, s.shape) for n, s in step.segment.inputs.items() if n in inputs],
        shapes,
        step.operations,
    )


def _launch(step: LaunchStep, needed: set[str]) -> Launch:
    arguments, alias = _renamed([(one, _argument(one, needed)) for one in step.arguments])
    uses = [one.storage.name for one in step.arguments if one.storage is not None]
    for one in step.arguments:
        if one.storage is not None and one.written and one.state == UNDEFINED:
            needed.discard(one.storage.name)
    needed.update(
        one.storage.name for one in step.arguments if one.storage is not None and one.state in (DEFINED, INPUT)
    )
    kernel = step.kernel
    names = {text.partition("=")[0] for _, text in arguments}
    return Launch(
        kernel.name,
        kernel.ptx if kernel.cuda is None else kernel.cuda(names),
        step.grid,
        kernel.block or 32 * kernel.warps,
        kernel.shared,
        kernel.cluster,
        arguments,
        uses,
        kernel.options,
        alias,
        ".ptx" if kernel.cuda is None else ".cu",
    )


def _renamed(arguments: list[tuple[Pass, str]]) -> tuple[list[tuple[str, str]], list[str]]:
    """Gives parameters with the same address names of their own, and returns which are the same."""
    taken: dict[str, list[str]] = {}
    result = []
    for one, text in arguments:
        name, equals, rest = text.partition("=")
        others = taken.setdefault(name, [])
        others.append(name if not others else f"{name}_{len(others) + 1}")
        result.append((one.name, others[-1] + equals + rest))
    return result, [",".join(names) for names in taken.values() if len(names) > 1]


def _argument(one: Pass, needed: set[str]) -> str:
    """Writes an argument in the command line's notation. Numbers get a prefix: formulas see names, and `n` may be an
    index there.
    """
    storage = one.storage
    if storage is None:
        return f"arg_{one.name}={'?' if one.number is UNUSED else _exact(one.number)}"
    text = f"{storage.name}={_type(storage.dtype)}[{','.join(map(str, storage.shape or (1,)))}]"
    if _is_strided(storage):
        text += f"@[{','.join(map(str, storage.strides))}]"
    if one.state == INPUT or (not one.written and one.state == DEFINED):
        return text
    if one.state == FILLED:
        direction = "" if not one.written else ":out" if storage.name in needed else ":scratch"
        return f"{text}{direction}={_number(one.fill)}"
    if one.state == UNDEFINED:
        return f"{text}:out" if one.written and storage.name in needed else f"{text}:scratch"
    return f"{text}:inout"


def _is_strided(storage: Storage) -> bool:
    """Returns `True` if memory is not row-major."""
    is_other = bool(storage.shape) and storage.strides != _row_major(storage.shape)
    return is_other and storage.keep is not None and not storage.keep.is_contiguous()


def _type(dtype: str) -> str:
    return "u8" if dtype == "bool" else dtype


def _exact(value: Any) -> str:
    """Writes a number passed to a kernel. A float with a simple closed form is written as that form, as in formulas."""
    form = closed_form(abs(value)) if isinstance(value, float) else None
    return _number(value) if form is None else f"-({form})" if value < 0 else form


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else repr(value)
