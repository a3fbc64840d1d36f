"""Core ATen operations as formulas: elementwise operations, and the table of templates.

Views and indexing are in `aten_views`, reductions in `aten_reduce`.

There is one template for each operation, keyed by its name without the overload. Arguments are bound by torch's own
schema, so overloads of one operation share a template. Each template is tested against torch in float64. An operation
without a template is refused by name: a wrong template would be a false reference.

Over the reals, casts between floating-point types are the identity, and `isnan` of a real is false. Integers wrap
around at every operation, see `wrapping`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

from . import tensor as ops, value, wrapping
from .errors import Untraceable
from .formula import Builder, Tensor, kind_of
from .value import Value


@dataclass
class Call:
    """One call of an operation: its arguments by name, and the types and shapes of its results."""

    b: Builder
    operation: str
    overload: str
    arguments: dict[str, Any]
    results: list[tuple[str, tuple[int, ...]]]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an argument, or `default` if it is missing or `None`."""
        found = self.arguments.get(name)
        return default if found is None else found

    @property
    def dtype(self) -> str:
        """The element type of the first result."""
        return self.results[0][0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return self.results[0][1]

    def tensor(self, name: str) -> Tensor:
        """Returns an argument as a tensor; numbers become constants."""
        found = self.arguments[name]
        if isinstance(found, Tensor):
            return found
        if isinstance(found, (bool, int, float)):
            kind = "bool" if isinstance(found, bool) else "s64" if isinstance(found, int) else "f64"
            return ops.scalar(found, kind)
        raise Untraceable(f"argument `{name}` is {found!r}")

    def elementwise(self, function: Callable[..., Value], *names: str) -> Tensor:
        """Applies a function of values to arguments that broadcast."""
        tensors = [self.tensor(n) for n in names]
        if self.operation not in wrapping.RING:
            self.require_small_numbers(names)
        return ops.elementwise(self.b, self.dtype, function, *tensors, hint=self.operation, name=self.operation)


    def require_small_numbers(self, names: Sequence[str]) -> None:
        """Refuses numbers outside of the type of the integers they meet: torch keeps their low bits."""
        given = [self.arguments[name] for name in names]
        kinds = [one.dtype for one in given if isinstance(one, Tensor) and one.kind != "bool"]
        numbers = [one for one in given if isinstance(one, int) and not isinstance(one, bool)]
        if not kinds or any(kind_of(kind) == "real" for kind in kinds):
            return
        for number in numbers:
            if not any(wrapping.fits(value.constant(number), kind) for kind in kinds):
                raise Untraceable(f"{number} with integers of {kinds[0]}")


Template = Callable[[Call], Any]
TEMPLATES: dict[str, Template] = {}


def template(*names: str) -> Callable[[Template], Template]:
    """Registers a template for operations of these names."""

    def register(function: Template) -> Template:
        for name in names:
            TEMPLATES[name] = function
        return function

    return register


def _function(name: str, kind: Optional[str] = None) -> Callable[[Value], Value]:
    """Returns a call of a function of the grammar; `kind` "same" keeps integers."""

    def apply(v: Value) -> Value:
        return value.call(name, v, kind=v.kind if kind == "same" and v.kind == "int" else "real")

    return apply


def _on_reals(name: str, plain: Callable[[Value], Value]) -> Callable[[Value], Value]:
    def apply(v: Value) -> Value:
        if not v.finite:
            raise Untraceable(f"{name} of an expression with an infinity in it")
        return plain(v)

    return apply


def _invert(v: Value) -> Value:
    return value.invert(v) if v.kind == "bool" else value.subtract(value.constant(-1), v)


def _rounded(name: str) -> Callable[[Value], Value]:
    return lambda v: v if v.kind != "real" else value.call(name, v)


ONE = value.constant(1)
ZERO = value.constant(0)
HALF = value.constant(0.5)
TWO = value.constant(2)

UNARY: dict[str, Callable[[Value], Value]] = {
    **{n: _function(n) for n in "exp exp2 log log2 log1p expm1 sqrt rsqrt tanh erf sin cos sigmoid".split()},
    **{n: _function(n, "same") for n in "abs sign relu".split()},
    **{n: _rounded(n) for n in "floor ceil trunc".split()},
    "sgn": _function("sign", "same"),
    "neg": value.negate,
    "reciprocal": lambda v: value.divide(ONE, v),
    "logical_not": value.invert,
    "bitwise_not": _invert,
    "isnan": _on_reals("isnan", lambda v: value.truth(False)),
    "isinf": _on_reals("isinf", lambda v: value.truth(False)),
    "tan": lambda v: value.divide(value.call("sin", v), value.call("cos", v)),
    "log10": lambda v: value.divide(value.call("log", v), value.call("log", value.constant(10))),
    "sinh": lambda v: value.divide(value.subtract(_exp(v), _exp(value.negate(v))), TWO),
    "cosh": lambda v: value.divide(value.add(_exp(v), _exp(value.negate(v))), TWO),
    "silu": lambda v: value.multiply(v, value.call("sigmoid", v)),
}


def _exp(v: Value) -> Value:
    return value.call("exp", v)


def _logical(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    return lambda a, b: function(value.condition(a), value.condition(b))


def _xor(a: Value, b: Value) -> Value:
    return value.either(value.both(a, value.invert(b)), value.both(value.invert(a), b))


def _bits(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def apply(a: Value, b: Value) -> Value:
        if a.kind != "bool" or b.kind != "bool":
            raise Untraceable("a bitwise operation on integers")
        return function(a, b)

    return apply


def _is_counted(a: Value, b: Value) -> bool:
    """Returns `True` if `a` is an index of at least 0 and `b` a positive constant: then `//` truncates."""
    whole = a.ix is not None and a.ix.lo is not None and a.ix.lo >= 0
    return whole and b.ix is not None and b.ix.constant is not None and b.ix.constant > 0


def _fmod(a: Value, b: Value) -> Value:
    if _is_counted(a, b):
        return value.remainder(a, b)
    quotient = value.call("trunc", value.divide(a, b), kind="int" if a.kind == b.kind == "int" else "real")
    return value.subtract(a, value.multiply(b, quotient))


def _comparison(operator: str) -> Callable[[Value, Value], Value]:
    return lambda a, b: value.compare(operator, a, b)


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "mul": lambda a, b: value.both(a, b) if a.kind == b.kind == "bool" else value.multiply(a, b),
    "maximum": lambda a, b: value.extremum("max", a, b),
    "minimum": lambda a, b: value.extremum("min", a, b),
    "fmax": lambda a, b: value.extremum("max", a, b),
    "fmin": lambda a, b: value.extremum("min", a, b),
    "eq": _comparison("=="),
    "ne": _comparison("!="),
    "lt": _comparison("<"),
    "le": _comparison("<="),
    "gt": _comparison(">"),
    "ge": _comparison(">="),
    "logical_and": _logical(value.both),
    "logical_or": _logical(value.either),
    "logical_xor": _logical(_xor),
    "bitwise_and": _bits(value.both),
    "bitwise_or": _bits(value.either),
    "bitwise_xor": _bits(_xor),
    "floor_divide": value.floor_divide,
    "remainder": value.remainder,
    "fmod": _fmod,
}


def _register_elementwise() -> None:
    for name, unary in UNARY.items():
        TEMPLATES[name] = lambda c, f=unary: c.elementwise(f, "self")  # type: ignore[misc]
    for name, binary in BINARY.items():
        TEMPLATES[name] = lambda c, f=binary: c.elementwise(f, "self", "other")  # type: ignore[misc]


_register_elementwise()


@template("add", "sub", "rsub")
def _sum(c: Call) -> Tensor:
    alpha = value.constant(c.get("alpha", 1))
    if c.tensor("self").kind == c.tensor("other").kind == "bool":
        if c.operation == "add":
            return c.elementwise(value.either, "self", "other")
        raise Untraceable("a difference of booleans")
    if c.operation == "rsub":
        return c.elementwise(lambda a, b: value.subtract(b, value.multiply(a, alpha)), "self", "other")
    function = value.add if c.operation == "add" else value.subtract
    return c.elementwise(lambda a, b: function(a, value.multiply(value.real(b), alpha)), "self", "other")


@template("div")
def _div(c: Call) -> Tensor:
    mode = c.get("rounding_mode")
    if mode is None:
        return c.elementwise(value.divide, "self", "other")
    if mode == "floor":
        return c.elementwise(value.floor_divide, "self", "other")
    kind = kind_of(c.dtype)

    def truncated(a: Value, b: Value) -> Value:
        return value.floor_divide(a, b) if _is_counted(a, b) else value.call("trunc", value.divide(a, b), kind=kind)

    return c.elementwise(truncated, "self", "other")


@template("pow")
def _pow(c: Call) -> Tensor:
    return c.elementwise(value.power, "self", "exponent")


@template("where")
def _where(c: Call) -> Tensor:
    if c.overload not in ("self", "ScalarSelf", "ScalarOther", "Scalar"):
        raise Untraceable("where without values: the shape depends on data")
    return c.elementwise(value.select, "condition", "self", "other")


@template("masked_fill")
def _masked_fill(c: Call) -> Tensor:
    return c.elementwise(lambda v, m, f: value.select(m, f, v), "self", "mask", "value")


@template("clamp", "clamp_min", "clamp_max", "hardtanh")
def _clamp(c: Call) -> Tensor:
    low = next((n for n in ("min", "min_val") if c.get(n) is not None), None)
    high = next((n for n in ("max", "max_val") if c.get(n) is not None), None)
    names = [n for n in (low, high) if n is not None]

    def apply(v: Value, *limits: Value) -> Value:
        rest = list(limits)
        if low is not None:
            v = value.call("relu", v) if rest[0].number == 0 and v.kind == "real" else value.extremum("max", v, rest[0])
            rest.pop(0)
        return value.extremum("min", v, rest.pop(0)) if high is not None else v

    return c.elementwise(apply, "self", *names)


@template("leaky_relu")
def _leaky_relu(c: Call) -> Tensor:
    slope = value.constant(c["negative_slope"])
    return c.elementwise(lambda v: value.select(value.compare(">", v, ZERO), v, value.multiply(slope, v)), "self")


@template("elu")
def _elu(c: Call) -> Tensor:
    alpha, scale, inner = (float(c[n]) for n in ("alpha", "scale", "input_scale"))
    factors = [value.constant(x) for x in (alpha, scale, inner)]

    def apply(v: Value) -> Value:
        below = value.multiply(factors[0], value.call("expm1", value.multiply(factors[2], v)))
        return value.multiply(factors[1], value.select(value.compare(">", v, ZERO), v, below))

    return c.elementwise(apply, "self")


@template("gelu")
def _gelu(c: Call) -> Tensor:
    if c.get("approximate", "none") == "none":
        root = value.call("sqrt", TWO)

        def curve(v: Value) -> Value:
            return value.call("erf", value.divide(v, root))

    else:
        factor = Value("sqrt(2/pi)", value.PRIMARY, "real", 1)
        cubic = value.constant(0.044715)

        def curve(v: Value) -> Value:
            inner = value.add(v, value.multiply(cubic, value.power(v, value.constant(3))))
            return value.call("tanh", value.multiply(factor, inner))

    def apply(v: Value) -> Value:
        return value.multiply(value.divide(v, TWO), value.add(ONE, curve(v)))

    return c.elementwise(apply, "self")


def refused(operation: str) -> Optional[str]:
    """Returns the reason why an operation never becomes a formula, if there is one."""
    return _REFUSED.get(operation)


_REFUSED = {
    **dict.fromkeys("native_dropout bernoulli".split(), "random: compare in eval mode"),
    **dict.fromkeys(
        "rand randn randint rand_like randn_like randperm uniform normal".split(), "random: make it an argument"
    ),
    **dict.fromkeys("nonzero masked_select unique _unique2".split(), "the shape of the result depends on data"),
    **dict.fromkeys(
        "empty empty_like new_empty empty_strided empty_permuted".split(), "memory that nothing has written"
    ),
    **dict.fromkeys("sort topk kthvalue".split(), "sorting is not a formula"),
    "round": "ties of `round` go to the even number in torch",
}


def sequence(result: Any) -> Sequence[Any]:
    """Returns the results of a call as a list."""
    return result if isinstance(result, (list, tuple)) else [result]
