"""An application with a job that asks a model; run by the real `dramatiq` command in the tests."""

from __future__ import annotations

from broker import actor, completion
from jobbko.ai.calls import complete
from jobbko.ai.prompts import prompt


@actor(priority=5)
def count_up(to: int) -> None:
    answer = complete(prompt("count", f"Count from 1 to {to}, one number a line."), max_tokens=60)
    with completion() as done:
        done.result = {"text": answer.text, "tokens": answer.tokens.output}
