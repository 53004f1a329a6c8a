"""The prompt of a job, as the collection wants it, and the hash of all that an answer depends on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from jobbko.ai.prompts import Prompt, load, prompt
from jobbko.errors import Permanent
from jobbko.store import graph

#: Names that one prompt lists; more than that no model keeps in mind.
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Wording:
    """What a collection has a job say: its own prompt from its metadata (`prompts`), or the one beside the job."""

    job: str
    text: str
    name: str
    names: str

    def filled(self, **data: str) -> Prompt:
        """Permanent if the collection's own prompt has other places than the job has data for."""
        try:
            return prompt(self.name, self.text, names=self.names or "none", **data)
        except KeyError as error:
            places = ", ".join(f"${place}" for place in sorted([*data, "names"]))
            raise Permanent(f"the collection's prompt for {self.job} must have the places {places}: {error}") from None

    def told(self, instruction: str) -> Wording:
        """With what the person who sent the job asks for; unlike the data it is to be followed."""
        if not instruction.strip():
            return self
        plainly = instruction.replace("$", "＄")  # no place to be filled
        return replace(self, text=f"{self.text}\nThe editor asks: {plainly}\n")

    def hash_of(self, *parts: Any) -> str:
        """Of the wording and of what it is filled with: the same again need not be asked again."""
        said = json.dumps([self.text, self.names, *parts], ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def wording(job: str, package: str, collection: str) -> Wording:
    """package: where the job is, with its prompt file beside it, of the job's name.

    The collection's metadata: {"prompts": {job: text with the same places}, "names": ["Ada Lovelace", …]}.
    """
    metadata = graph.metadata(collection)
    own = _table(metadata.get("prompts")).get(job)
    listed = _listed(metadata.get("names"))
    if isinstance(own, str) and own.strip():
        name = f"{job}:{hashlib.sha256(own.encode()).hexdigest()[:8]}"
        return Wording(job, own, name, listed)
    return Wording(job, load(package, f"{job}.md"), job, listed)


def names(collection: str) -> str:
    """The names in the collection's metadata, with commas between them; "" if it has none."""
    return _listed(graph.metadata(collection).get("names"))


def _listed(given: Any) -> str:
    return ", ".join(str(name)[:80] for name in given[:MOST_NAMES]) if isinstance(given, list) else ""


def _table(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}
