"""How a job's parameters look, and how a message's arguments become a payload of names."""

from __future__ import annotations

import contextlib
import inspect
import json
from dataclasses import dataclass
from typing import Any, NoReturn

from jobbko.errors import Permanent

#: Bytes of JSON that a payload may have; more than this belongs in a file or a table.
PAYLOAD_LIMIT = 64 * 1024

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class PayloadRefused(Permanent, TypeError):
    """The arguments do not fit the job, cannot be written as JSON, or are too large."""


@dataclass(frozen=True, slots=True)
class Signature:
    """parameters: those that can be passed by name, in order; required: without a default."""

    name: str
    parameters: tuple[str, ...]
    required: tuple[str, ...]
    accepts_any: bool
    #: Positional arguments are bound to names. False for *args and positional-only parameters, which have none.
    all_named: bool

    @classmethod
    def of(cls, name: str, function: Any) -> Signature:
        found = inspect.signature(function).parameters.values()
        named = [parameter for parameter in found if parameter.kind in _NAMED]
        return cls(
            name=name,
            parameters=tuple(parameter.name for parameter in named),
            required=tuple(parameter.name for parameter in named if parameter.default is inspect.Parameter.empty),
            accepts_any=any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in found),
            all_named=not any(
                parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)
                for parameter in found
            ),
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """The payload, and the positional arguments that have no name."""
        payload = dict(kwargs)
        rest: list[Any] = []
        if self.all_named:
            if len(args) > len(self.parameters):
                raise PayloadRefused(f"{self.name} takes {len(self.parameters)} arguments, not {len(args)}: {self}")
            for name, value in zip(self.parameters, args, strict=False):
                if name in payload:
                    raise PayloadRefused(f"{self.name} got two values for {name}: {self}")
                payload[name] = value
            if missing := [name for name in self.required if name not in payload]:
                raise PayloadRefused(f"{self.name} needs {', '.join(missing)}: {self}")
        else:
            rest = list(args)
        if not self.accepts_any and (unknown := payload.keys() - set(self.parameters)):
            raise PayloadRefused(f"{self.name} has no parameter {', '.join(sorted(unknown))}: {self}")
        check_size(self.name, payload, rest)
        return payload, rest

    def __str__(self) -> str:
        written = [name if name in self.required else f"{name}=…" for name in self.parameters]
        return f"{self.name}({', '.join(written)})"


def check_size(name: str, payload: dict[str, Any], args: list[Any]) -> None:
    """Raise PayloadRefused for what is not JSON or too large."""
    if not args and sum(map(_at_most, payload.values())) < PAYLOAD_LIMIT // 16:
        return
    with contextlib.suppress(TypeError, ValueError):
        if len(json.dumps([payload, args])) <= PAYLOAD_LIMIT:
            return
    _name_the_fault(name, payload, args)


def _at_most(value: Any) -> int:
    """Bytes that a simple value cannot exceed, whatever is escaped in it; the limit for all others, to look closer."""
    match value:
        case str():
            return 12 * len(value) + 2
        case None | bool() | float():
            return 24
        case int() if -(2**63) < value < 2**63:
            return 20
    return PAYLOAD_LIMIT


def _name_the_fault(name: str, payload: dict[str, Any], args: list[Any]) -> NoReturn:
    for key, value in [*payload.items(), *(("an argument", value) for value in args)]:
        try:
            size = len(json.dumps(value))
        except (TypeError, ValueError) as error:
            raise PayloadRefused(f"{name}: {key} cannot be written as JSON: {error}") from None
        if size > PAYLOAD_LIMIT:
            raise PayloadRefused(
                f"{name}: {key} has {size} bytes, more than {PAYLOAD_LIMIT}; pass audio and other files by path"
            )
    raise PayloadRefused(f"{name}: the parameters have more than {PAYLOAD_LIMIT} bytes together; pass files by path")
