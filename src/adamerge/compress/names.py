"""A method is its name: `docpruner:k=-0.25` in Python, on the command line, in results and in stores.

    method:option=value,option=value      None is written none, True and False true and false
    control(method:option=value)          what a method is held against, in evaluations

Options that make an operating point are always written, the others only where they differ from their default.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from adamerge.errors import BadInput, UnknownName, did_you_mean
from adamerge.types import Compressed, MultiVector

METHODS: dict[
    str, tuple[type["Method"], dict[str, Any]]
] = {}  # name -> class, and the options the name stands for

GRAMMAR = re.compile(
    r"\s*(?:(?P<control>[^:(),=]+)\()?"  # random(
    r"(?P<method>[^:(),=]*)(?::(?P<options>[^()]*))?"  # adamerge:k=0,c_min=0.7
    r"(?(control)\))\s*"  # )
)
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@dataclass(frozen=True)
class Name:
    """A name taken apart, of a method that is known here or not; names that differ in the order of options are equal.

    method   adamerge, of random(adamerge:k=0,unit=true)
    options  the texts of its options, in the order written: {"k": "0", "unit": "true"}
    control  random; empty for a method alone
    """

    method: str
    options: Mapping[str, str] = field(default_factory=dict)
    control: str = ""

    def __str__(self) -> str:
        """The name, which read_name() takes apart."""
        written = ",".join(f"{option}={text}" for option, text in self.options.items())
        method = f"{self.method}:{written}" if written else self.method
        return f"{self.control}({method})" if self.control else method

    def __hash__(self) -> int:
        """The same for names that are equal, so whatever the order of their options."""
        return hash((self.method, self.control, frozenset(self.options.items())))

    def but(self, **changed: str | None) -> "Name":
        """The same with other options; None leaves one out."""
        texts = {**self.options, **changed}
        options = {option: text for option, text in texts.items() if text is not None}
        return replace(self, options=options)

    def number(self, option: str) -> float | None:
        """An option that is a number; None where it is a word, or not written."""
        text = self.options.get(option, "")
        return float(text) if NUMBER.fullmatch(text) else None

    def words(self) -> dict[str, str]:
        """The options that are no numbers."""
        found = self.options.items()
        return {option: text for option, text in found if not NUMBER.fullmatch(text)}


def read_name(text: str) -> Name:
    """A name taken apart: the only reader of names; what is no name is refused."""
    found = GRAMMAR.fullmatch(text)
    if not found:
        raise BadInput(f"'{text}' is no name: write METHOD:OPTION=VALUE,OPTION=VALUE")
    method = found["method"].strip()
    options: dict[str, str] = {}
    for pair in filter(None, (found["options"] or "").split(",")):
        option, equals, value = (piece.strip() for piece in pair.partition("="))
        if not equals or option in options:
            raise BadInput(f"{method}: write option '{option}' once, as {option}=VALUE")
        options[option] = value
    return Name(method, options, (found["control"] or "").strip())


class Method:
    """Something that compresses a page: a frozen dataclass whose fields are its options.

    A subclass says its name, or its names and the options that each stands for:

        @dataclass(frozen=True)
        class PruneThenMerge(Method, names={"ptm": {"pool": "mean"}, "ptm-attn": {"pool": "attention"}}):
    """

    shown: ClassVar[tuple[str, ...]] = ()  # options that are always written
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, names: Mapping[str, dict[str, Any]]) -> None:
        """Enter the method in the table under each of its names; the name of another's method is refused."""
        for name in names:
            if name in METHODS and METHODS[name][0].__module__ != cls.__module__:
                raise BadInput(
                    f"there is a method '{name}' already: choose another name for {cls.__name__}"
                )
        METHODS.update({name: (cls, given) for name, given in names.items()})

    def __post_init__(self) -> None:
        """Give every option a value of its type, from a value or its text, or refuse it."""
        kinds = get_type_hints(type(self))
        for name in (option.name for option in options(self)):
            value = _value(f"{type(self).__name__}: {name}", kinds[name], getattr(self, name))
            object.__setattr__(self, name, value)

    def __call__(self, page: MultiVector) -> Compressed:
        """Compress one page."""
        raise TypeError(f"{type(self).__name__} is a name without a method: define __call__")

    def __str__(self) -> str:
        """The method's name, which parse_method reads back."""
        return _name(self)


def parse_method(text: str) -> Method:
    """The method of a name; options that are not given have their defaults."""
    return method_of(read_name(text))


def method_of(name: Name) -> Method:
    """The method of a name that was taken apart."""
    if name.control:
        raise BadInput(
            f"'{name}' is a control, for evaluations: write the method alone, {name.method}"
        )
    if name.method not in METHODS:
        guess = did_you_mean(name.method, METHODS)
        raise UnknownName(f"no method '{name.method}'{guess}; choose from {', '.join(METHODS)}")
    cls, given = METHODS[name.method]
    known = [option.name for option in options(cls) if option.name not in given]
    for option in name.options:
        if option not in known:
            raise UnknownName(
                f"{name.method} has no option '{option}'{did_you_mean(option, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
    return cls(**given, **name.options)


def as_method(
    method: Callable[[MultiVector], Compressed] | str,
) -> Callable[[MultiVector], Compressed]:
    """A method by its name, or any function from a page to its compressed form as it is."""
    if isinstance(method, str):
        return parse_method(method)
    if not callable(method):
        raise BadInput(
            f"a method is a name or something that takes a page, got {type(method).__name__}"
        )
    return method


def options(method: Method | type[Method]) -> tuple[Field[Any], ...]:
    """The options of a method, in the order they are written."""
    return fields(method)


def as_text(value: Any) -> str:
    """A value as it is written in a name."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


@lru_cache(maxsize=1000)  # every compressed page says by what
def _name(method: Method) -> str:
    values = {option.name: getattr(method, option.name) for option in options(method)}
    mine = ((name, given) for name, (cls, given) in METHODS.items() if cls is type(method))
    name, given = next((name, given) for name, given in mine if given.items() <= values.items())
    usual = {option.name: option.default for option in options(method)} | given
    written = {k: as_text(v) for k, v in values.items() if v != usual[k] or k in method.shown}
    return str(Name(name, written))


def _value(what: str, kind: Any, value: Any) -> Any:
    """`value`, or what its text says, in the type of its option."""
    words = {"none": None, "true": True, "false": False}
    said = words.get(value.lower(), value) if isinstance(value, str) else value
    allowed = get_args(kind) or (kind,)
    if get_origin(kind) is Literal or kind is bool:
        choices = (True, False) if kind is bool else allowed
        if any(said is choice or (isinstance(said, str) and said == choice) for choice in choices):
            return said
        raise BadInput(f"{what} must be {' or '.join(map(as_text, choices))}, got {value!r}")
    if said is None and type(None) in allowed:
        return None
    if str in allowed:
        if isinstance(value, str) and value == value.strip() != "" and not set(value) & set(",()"):
            return value
        raise BadInput(f"{what} must be a word, without , and brackets, got {value!r}")
    if float not in allowed and isinstance(number := _number(said, int), int):
        return number
    if float in allowed and math.isfinite(number := _number(said, float)):
        return number + 0.0  # -0.0 and 0.0 are one value and have one name
    expected = "a number" if float in allowed else "a whole number"
    raise BadInput(f"{what} must be {expected}{' or none' * (len(allowed) > 1)}, got {value!r}")


def _number(value: Any, kind: type) -> Any:
    """`value` as an int or float without loss, nan if it is none."""
    try:
        number = math.nan if isinstance(value, bool) else kind(value)
        return number if isinstance(value, str) or number == value else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan
