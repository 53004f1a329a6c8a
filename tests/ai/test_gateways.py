"""Which gateways are configured, from variables and from a file."""

import pytest

from jobbko import settings
from jobbko.ai import gateways
from jobbko.errors import UserError


@pytest.fixture
def configured(monkeypatch):
    gateways.configuration.cache_clear()
    yield lambda **said: [monkeypatch.setattr(settings, name, value) for name, value in said.items()]
    gateways.configuration.cache_clear()


@pytest.mark.parametrize("backend", ["anthropic", "cli"])
def test_a_backend_that_has_its_own_place_needs_no_address(configured, backend):
    configured(AI_URL="", AI_BACKEND=backend)
    assert gateways.configuration().gateways["default"].backend == backend


def test_without_an_address_there_is_none(configured):
    configured(AI_URL="", AI_BACKEND="gateway", AI_CONFIG="")
    assert gateways.configuration().gateways == {}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[gateways.a]\nurl = 'http://x/v1'\nmodle = 'm'", "gateways.a.modle is no setting"),
        ("[gateways.a]\nurl = 'ftp://x'", "must be the address"),
        ("[gateways.a]\nurl = 'http://x/v1'\ntimeout = 'long'", "must be of the kind"),
        ("[gateways", "JOBBKO_AI_CONFIG="),
        ("gateways = 3", "must be tables"),
    ],
)
def test_a_mistake_in_the_file_is_told(configured, tmp_path, said, told):
    (tmp_path / "ai.toml").write_text(said)
    configured(AI_CONFIG=str(tmp_path / "ai.toml"), AI_URL="")
    with pytest.raises(UserError, match=told):
        gateways.configuration()
