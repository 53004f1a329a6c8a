"""Calls to the real local server: what it answers, what it refuses, and what the ledger says of it."""

from __future__ import annotations

import io

import pytest

from jobbko import settings, store
from jobbko.ai.calls import complete, embed
from jobbko.ai.gateways import Choice, Gateway
from jobbko.ai.prompts import prompt
from jobbko.ai.wire import Image
from jobbko.errors import Charged, GateClosed, UserError
from jobbko.localai import models, process
from tests.ai.conftest import configure
from tests.localai.conftest import PRICES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database", "gateway")]

BOOK = {
    "type": "object",
    "properties": {"title": {"type": "string", "maxLength": 200}, "year": {"type": "integer"}},
    "required": ["title", "year"],
    "additionalProperties": False,
}
ASK = "Name a book and the year in which it was published."
PRICED = Choice(gateway="priced")


def ledger():
    """The ledger's only row: state, class, all tokens of the prompt, of the answer, dollars and who says so."""
    (found,) = store.rows(
        "select state, class, coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0), output_tokens,"
        " cost_usd::float8, cost_source from model_run"
    )
    return found


def test_an_answer_fits_its_schema_and_its_tokens_are_counted():
    answer = complete(prompt("book", ASK), BOOK, max_tokens=150)
    assert isinstance(answer.data["title"], str)
    assert isinstance(answer.data["year"], int)
    assert answer.model == "smollm2-135m-demonstration"
    state, failure, said, answered, cost, source = ledger()
    assert (state, failure, cost, source) == ("ok", None, 0, "free")
    assert said > len(ASK.split())  # a token is at most a word here
    assert 5 < answered <= 150


def test_a_model_with_a_price_costs_what_its_tokens_cost():
    answer = complete(prompt("book", ASK), BOOK, max_tokens=150, wanted=PRICED)
    tokens, price = answer.tokens, PRICES[models.CHAT_NAME]
    assert tokens.output > 0
    dollars = tokens.input * price["input"] + (tokens.cache_read or 0) * price["cache_read"]
    dollars = (dollars + tokens.output * price["output"]) / 1_000_000
    assert ledger()[4:] == (pytest.approx(dollars, abs=1e-8), "table")


def test_an_answer_that_is_cut_off_is_charged_to_the_job_and_says_so():
    with pytest.raises(Charged, match="cut off at max_tokens") as refused:
        complete(prompt("book", ASK), BOOK, max_tokens=3)
    assert refused.value.kind == "invalid"


def test_a_prompt_that_is_too_long_is_invalid_and_costs_nothing():
    with pytest.raises(Charged, match="exceeds the available context size") as refused:
        complete(prompt("long", "word " * 6000), max_tokens=10, wanted=PRICED)
    assert refused.value.kind == "invalid"
    assert ledger() == ("failed", "invalid", 0, None, 0, "provider")


def test_a_picture_is_refused_as_one_and_costs_nothing():
    with pytest.raises(Charged, match="image input is not supported") as refused:
        complete(prompt("photo", "What is on it?"), images=[Image(png(), "image/png")], max_tokens=10, wanted=PRICED)
    assert refused.value.kind == "image"
    assert ledger() == ("failed", "image", 0, None, 0, "provider")


@pytest.mark.parametrize(
    "ask", [lambda **wanted: complete(prompt("book", ASK), **wanted), lambda **wanted: embed(["a"], **wanted)]
)
def test_a_model_that_is_not_served_closes_the_gate_and_is_not_the_jobs_fault(ask):
    with pytest.raises(GateClosed, match="'gpt-4o' is not served here") as refused:
        ask(wanted=Choice(gateway="priced", model="gpt-4o"))
    assert (refused.value.gate, refused.value.reason) == ("llm:priced", "auth")
    assert ledger() == ("failed", "auth", 0, None, 0, "provider")


def test_a_question_is_nearer_to_what_answers_it():
    question, tides, bread = (
        "When is high water in the harbour?",
        "The tide table lists the hours of high and low water for each day.",
        "Let the dough rise overnight, and bake the bread in a hot oven.",
    )
    model, (asked, right, wrong) = embed([question, tides, bread])
    assert model == "multilingual-e5-small-q4"
    assert [len(each) for each in (asked, right, wrong)] == [384] * 3
    assert dot(asked, asked) == pytest.approx(1, abs=1e-3)
    assert dot(asked, right) > dot(asked, wrong)
    state, failure, tokens, answered, cost, source = ledger()
    assert (state, failure, answered, cost, source) == ("ok", None, 0, 0, "free")
    assert tokens > 30


def test_a_text_means_the_same_alone_and_among_others():
    _, (alone,) = embed(["Sæterjente fra Hallingdal"])
    _, among = embed(["first", "Sæterjente fra Hallingdal", "last"])
    assert among[1] == pytest.approx(alone, abs=1e-4)


def test_another_file_is_served_under_its_own_name(models_here, tmp_path, monkeypatch):
    other = tmp_path / "other-one.gguf"
    other.symlink_to(models.chat().path)
    own_model(monkeypatch, other)
    with process.running() as running:
        configure(monkeypatch, Gateway("own", url=running.url, model=running.environment["JOBBKO_AI_MODEL"], free=True))
        assert complete(prompt("hello", "Say hello."), max_tokens=5).model == "other-one"


def test_a_file_that_llama_cpp_cannot_load_ends_the_start_with_its_reason(tmp_path, monkeypatch, capfd):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    own_model(monkeypatch, broken)
    with pytest.raises(UserError, match="ended with code 1"), process.running():
        pass
    assert f"llama.cpp cannot load {broken}" in capfd.readouterr().err


def own_model(monkeypatch, path):
    monkeypatch.setattr(settings, "LOCAL_MODEL", path)
    monkeypatch.setenv("JOBBKO_LOCAL_MODEL", str(path))  # for the server's process


def png():
    from PIL import Image as Picture

    content = io.BytesIO()
    Picture.new("RGB", (64, 64), "red").save(content, "PNG")
    return content.getvalue()


def dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))
