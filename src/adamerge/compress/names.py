"""A method is its name: `docpruner:k=-0.25` in Python, on the command line, in results and in stores.

    method:option=value,option=value      None is written none, True and False true and false
    method:option=value+int4              its vectors in 4 bits: int8, int4, int2, int1; float16 where nothing is said
    control(method:option=value)          what a method is held against, in evaluations

Options that make an operating point are always written, the others only where they differ from their default.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

from adamerge.codes import to_vectors
from adamerge.errors import BadInput, UnknownName, did_you_mean
from adamerge.types import Compressed, MultiVector

# name -> class, and the options that the name stands for
METHODS: dict[str, tuple[type["Method"], dict[str, Any]]] = {}

GRAMMAR = re.compile(
    r"\s*(?:(?P<control>[^:(),=]+)\()?"  # random(
    r"(?P<method>[^:(),=+]*)(?::(?P<options>[^()]*?))?"  # adamerge:k=0,c_min=0.7
    r"(?(control)\))"  # )
    r"(?:\+(?P<dtype>[a-z]\w*))?\s*"  # +int4
)
WRITTEN_DTYPES = ("int8", "int4", "int2", "int1")  # float16 is what a name without + means
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@dataclass(frozen=True)
class Name:
    """A name taken apart, of a method that is known here or not; names that differ in the order of options are equal.

    method   adamerge, of random(adamerge:k=0,unit=true)
    options  the texts of its options, in the order written: {"k": "0", "unit": "true"}
    control  random; empty for a method alone
    dtype    int4, of height:h=1+int4; empty where none is written
    """

    method: str
    options: Mapping[str, str] = field(default_factory=dict)
    control: str = ""
    dtype: str = ""

    def __str__(self) -> str:
        """The name, which read_name() takes apart."""
        name = self.method
        if self.options:
            written = [f"{option}={text}" for option, text in self.options.items()]
            name += ":" + ",".join(written)
        if self.control:
            name = f"{self.control}({name})"
        if self.dtype:
            name += f"+{self.dtype}"
        return name

    def __hash__(self) -> int:
        """The same for names that are equal, so whatever the order of their options."""
        return hash((self.method, self.control, self.dtype, frozenset(self.options.items())))

    def but(self, **changed: str | None) -> "Name":
        """The same with other options; None leaves one out."""
        texts = {**self.options, **changed}
        options = {option: text for option, text in texts.items() if text is not None}
        return replace(self, options=options)

    def number(self, option: str) -> float | None:
        """An option that is a number; None where it is a word, or not written."""
        text = self.options.get(option, "")
        if not NUMBER.fullmatch(text):
            return None
        return float(text)

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
    control = found["control"] or ""
    options = _read_options(method, found["options"] or "")
    dtype = found["dtype"] or ""
    if dtype and dtype not in WRITTEN_DTYPES:
        raise BadInput(f"'{text}': after + stands {', '.join(WRITTEN_DTYPES)}; got '{dtype}'")
    return Name(method, options, control.strip(), dtype)


def _read_options(method: str, text: str) -> dict[str, str]:
    """The options of "k=0,c_min=0.7", in the order written; each may be written once."""
    options: dict[str, str] = {}
    for pair in text.split(","):
        if not pair:
            continue
        before, equals, after = pair.partition("=")
        option = before.strip()
        if not equals or option in options:
            raise BadInput(f"{method}: write option '{option}' once, as {option}=VALUE")
        options[option] = after.strip()
    return options


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

    def __new__(cls, *values: Any, **given: Any) -> Self:
        """Refuse an option that the method does not have, with one that is like it."""
        known = [option.name for option in fields(cls) if option.init]
        for name in given:
            if name not in known:
                raise UnknownName(
                    f"{cls.__name__} has no option '{name}'{did_you_mean(name, known)}; it has {', '.join(known)}"
                )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Give every option a value of its type, from a value or its text, or refuse it."""
        types = get_type_hints(type(self))
        for option in options(self):
            name = option.name
            what = f"{type(self).__name__}: {name}"
            value = _value(what, types[name], getattr(self, name))
            object.__setattr__(self, name, value)

    def __call__(self, page: MultiVector) -> Compressed:
        """Compress one page."""
        raise TypeError(f"{type(self).__name__} is a name without a method: define __call__")

    def __str__(self) -> str:
        """The method's name, which parse_method reads back."""
        return _name(self)


@dataclass(frozen=True)
class MethodInDtype:
    """A method, and the dtype in which its vectors are kept: height:h=1+int4."""

    method: Method
    dtype: str

    def __call__(self, page: MultiVector) -> Compressed:
        """Compress one page, and round its vectors to the dtype."""
        return in_dtype(self.method(page), self.dtype)

    def __str__(self) -> str:
        """The name, which parse_method reads back."""
        return f"{self.method}+{self.dtype}"


def in_dtype(page: Compressed, dtype: str) -> Compressed:
    """A compressed page in a dtype: `rows` are as a store keeps them, `vectors` and `extra` what they stand for."""
    rows = page.rows_in(dtype)
    rounded = to_vectors(rows)
    extra = None if page.extra is None else rounded[len(page) :]
    return replace(page, vectors=rounded[: len(page)], extra=extra, rows=rows)


def split_dtype(method: Method | MethodInDtype) -> tuple[Method, str]:
    """The method without its dtype, and the dtype; "" where its name says none."""
    if isinstance(method, MethodInDtype):
        return method.method, method.dtype
    return method, ""


def parse_method(text: str) -> Method | MethodInDtype:
    """The method of a name; options that are not given have their defaults."""
    name = read_name(text)
    method = method_of(name)
    if name.dtype:
        return MethodInDtype(method, name.dtype)
    return method


def method_of(name: Name) -> Method:
    """The method of a name that was taken apart, without its dtype."""
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
    if isinstance(value, float):
        short = f"{value:g}"
        if float(short) == value:
            return short
    return str(value)


@lru_cache(maxsize=1000)  # every compressed page says by what
def _name(method: Method) -> str:
    values = {option.name: getattr(method, option.name) for option in options(method)}
    name, given = _name_and_given(method, values)

    written: dict[str, str] = {}
    for option in options(method):
        value = values[option.name]
        usual = given.get(option.name, option.default)
        if value != usual or option.name in method.shown:
            written[option.name] = as_text(value)
    return str(Name(name, written))


def _name_and_given(method: Method, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The first name of a method's class whose options the method has, and these options."""
    for name, (cls, given) in METHODS.items():
        if cls is type(method) and given.items() <= values.items():
            return name, given
    raise BadInput(f"{type(method).__name__} has no name for these options: {values}")


def _value(what: str, kind: Any, value: Any) -> Any:
    """`value`, or what its text says, in the type of its option."""
    allowed = get_args(kind) or (kind,)
    read = _read_word(value)
    if kind is bool:
        return _choice(what, (True, False), read, value)
    if get_origin(kind) is Literal:
        return _choice(what, allowed, read, value)
    if read is None and type(None) in allowed:
        return None
    if str in allowed:
        return _word(what, value)
    return _number(what, allowed, read, value)


def _read_word(value: Any) -> Any:
    """The value of the words none, true and false, in any case; every other value as it is."""
    if not isinstance(value, str):
        return value
    words = {"none": None, "true": True, "false": False}
    return words.get(value.lower(), value)


def _choice(what: str, choices: tuple[Any, ...], read: Any, value: Any) -> Any:
    for choice in choices:
        same_text = isinstance(read, str) and read == choice
        if read is choice or same_text:  # `is`, since 1 == True
            return read
    raise BadInput(f"{what} must be {' or '.join(map(as_text, choices))}, got {value!r}")


def _word(what: str, value: Any) -> str:
    """A text that can stand in a name."""
    if isinstance(value, str):
        is_trimmed = value == value.strip() != ""
        if is_trimmed and not set(value) & set(",()+"):
            return value
    raise BadInput(f"{what} must be a word, without , + and brackets, got {value!r}")


def _number(what: str, allowed: tuple[Any, ...], read: Any, value: Any) -> int | float:
    if float in allowed:
        expected = "a number"
        number = _convert(read, float)
    else:
        expected = "a whole number"
        number = _convert(read, int)
    if number is None or not math.isfinite(number):
        if type(None) in allowed:
            expected += " or none"
        raise BadInput(f"{what} must be {expected}, got {value!r}")
    return number


def _convert(value: Any, kind: type[int] | type[float]) -> int | float | None:
    """`value` as an int or float without loss; None if it is none."""
    if isinstance(value, bool):
        return None
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not isinstance(value, str) and number != value:
        return None
    return number + 0  # -0.0 and 0.0 are one value and have one name
