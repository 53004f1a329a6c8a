"""How a call is written for each kind of gateway, and where the answer is in what comes back."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobbko.ai.gateways import Gateway
from jobbko.ai.prompts import Prompt
from jobbko.clients.reply import Reply

#: A token is at least one byte of UTF-8, so a text has no more tokens than bytes; and a little around each message.
AROUND = 64
#: Tokens of a picture, at the most: one of 1568 × 1568 pixels costs (w × h) / 750 (Anthropic, vision).
PICTURE_TOKENS = 3300
#: What the wire does not carry; it is checked in code instead. Anthropic's structured outputs take none of these.
_UNWIRED = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "uniqueItems", "format", "$schema", "title", "default", "examples"),
}
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """mime: image/jpeg, image/png, image/gif or image/webp."""

    data: bytes = field(repr=False)
    mime: str

    def __post_init__(self) -> None:
        if self.mime not in ("image/jpeg", "image/png", "image/gif", "image/webp"):
            raise ValueError(f"{self.mime} is no kind of picture that models take; make it image/jpeg")

    @property
    def text(self) -> str:
        return base64.b64encode(self.data).decode()


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, whoever will answer it."""

    model: str
    prompt: Prompt
    schema: Schema | None
    images: tuple[Image, ...]
    max_tokens: int

    def most_input_tokens(self) -> int:
        """No tokenizer counts more."""
        said = len(self.prompt.text.encode()) + len(self.prompt.system.encode())
        schema = len(json.dumps(self.schema)) if self.schema else 0
        return said + schema + AROUND + PICTURE_TOKENS * len(self.images)

    def written_down(self) -> dict[str, Any]:
        """For the ledger: pictures as their hash, size and type."""
        images = [
            {"sha256": hashlib.sha256(each.data).hexdigest(), "bytes": len(each.data), "type": each.mime}
            for each in self.images
        ]
        said = {"system": self.prompt.system, "prompt": self.prompt.text, "schema": self.schema, "images": images}
        return {name: value for name, value in said.items() if value} | {"max_tokens": self.max_tokens}


def chat_body(gateway: Gateway, asked: Asked) -> dict[str, Any]:
    """For the OpenAI-compatible: POST /v1/chat/completions."""
    text = asked.prompt.text
    body: dict[str, Any] = {"model": asked.model, gateway.token_parameter: asked.max_tokens}
    if asked.schema is not None:
        match gateway.answers:
            case "json_schema":
                described = {"name": "answer", "strict": True, "schema": wired(asked.schema)}
                body["response_format"] = {"type": "json_schema", "json_schema": described}
            case "json_object":
                body["response_format"] = {"type": "json_object"}
                text += _in_words(asked.schema)
            case "plain":
                text += _in_words(asked.schema)
        if gateway.provider == "openrouter":
            body["provider"] = {"require_parameters": True}  # else the schema may be ignored in silence
    content: Any = text
    if asked.images:
        pictures = [
            {"type": "image_url", "image_url": {"url": f"data:{each.mime};base64,{each.text}"}} for each in asked.images
        ]
        content = [*pictures, {"type": "text", "text": text}]
    system = [{"role": "system", "content": asked.prompt.system}] if asked.prompt.system else []
    body["messages"] = [*system, {"role": "user", "content": content}]
    return body


def message_body(asked: Asked) -> dict[str, Any]:
    """For Anthropic: POST /v1/messages."""
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": each.mime, "data": each.text}}
        for each in asked.images
    ]
    body: dict[str, Any] = {
        "model": asked.model,
        "max_tokens": asked.max_tokens,
        "messages": [{"role": "user", "content": [*pictures, {"type": "text", "text": asked.prompt.text}]}],
    }
    if asked.prompt.system:
        body["system"] = asked.prompt.system
    if asked.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": wired(asked.schema)}}
    return body


def wired(schema: Any) -> Any:
    """The part of a JSON schema that every provider takes; the whole of it is checked when the answer is there."""
    match schema:
        case dict():
            kept: dict[str, Any] = {}
            for name, value in schema.items():
                if name in ("properties", "$defs"):
                    kept[name] = {each: wired(inner) for each, inner in value.items()}
                elif name in ("enum", "const", "required"):
                    kept[name] = value
                elif name not in _UNWIRED:
                    kept[name] = wired(value)
            if kept.get("type") == "object":
                kept["additionalProperties"] = False
            return kept
        case list():
            return [wired(each) for each in schema]
    return schema


def text_of(reply: Reply) -> str:
    """What was answered; "" if nothing was."""
    match reply.body:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]} | {"content": [*parts]}:
            texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
            return "".join(texts)
        case {"structured_output": dict() | list() as found}:
            return json.dumps(found)
        case {"result": str(text)}:
            return text
    return ""


def finish_of(reply: Reply) -> str | None:
    """Why it ended, in the provider's word."""
    match reply.body:
        case {"choices": [{"finish_reason": str(reason)}, *_]} | {"stop_reason": str(reason)}:
            return reason[:100]
    return None


def _in_words(schema: Schema) -> str:
    return f"\n\nAnswer with JSON alone, without anything around it, by this JSON schema:\n{json.dumps(schema)}"
