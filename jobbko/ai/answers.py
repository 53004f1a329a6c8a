"""From the text of an answer to data that fits the schema, or a reason why not."""

from __future__ import annotations

import json
import re
from typing import Any

from jobbko.ai.cleaning import plain, plain_all
from jobbko.errors import Charged

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)
#: Places at which an object may begin that are tried, in a text that is not JSON as a whole.
TRIES = 50


def data(text: str, schema: dict[str, Any]) -> Any:
    """The JSON in the text, cleaned, that fits the whole schema, its bounds too. Charged("invalid") if there is none.

    The text as it is; if that is no JSON, what is in a code fence, then the first complete object that fits: models put
    words around their answers, and braces into those.
    """
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema)
    fault = "it is no JSON"
    for found in _candidates(text):
        try:
            cleaned = plain_all(found)
        except ValueError as error:
            fault = str(error)
            continue
        misfit = jsonschema.exceptions.best_match(validator.iter_errors(cleaned))
        if misfit is None:
            return cleaned
        fault = f"{misfit.json_path}: {misfit.message[:200]}"
    raise Charged("invalid", f"the model's answer does not fit: {plain(fault)}")


def _candidates(text: str) -> Any:
    if (whole := _parsed(text)) is not None:
        yield whole
        return  # what fits inside of what does not is no answer
    for fenced in _FENCED.finditer(text):
        if (found := _parsed(fenced[1])) is not None:
            yield found
    decoder = json.JSONDecoder(parse_constant=_refused)
    for _, start in zip(range(TRIES), (each.start() for each in re.finditer(r"[{\[]", text)), strict=False):
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
