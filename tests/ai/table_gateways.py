"""Servers that speak OpenAI's language: llama.cpp, Ollama, vLLM, LiteLLM, Google, and what stands in front of them."""

from __future__ import annotations

from tests.ai.rows import MIDNIGHT, openai
from tests.ai.table_openai import FILTERED, chat, error

SERVED = "the request exceeds the available context size. try increasing the context size"
#: llama.cpp #13566, #15377
BLIND = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
PLACES = {"code": 400, "message": SERVED, "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}

LOCAL = [
    # textgen #7257 (with HTTP 200), llama.cpp PR #15780 (with code 500), #19774 (500 and another type)
    openai("llama.cpp: too long", 400, {"error": PLACES}, "invalid", says=SERVED),
    openai("llama.cpp: too long, as 200", 200, {"error": PLACES}, "invalid"),
    openai("llama.cpp: too long, as code 500", 400, {"error": {**PLACES, "code": 500}}, "invalid"),
    openai(
        "llama.cpp: too long, as 500", 500, error("Context size has been exceeded.", "server_error", 500), "invalid"
    ),
    openai("llama.cpp: no messages", 400, error("'messages' is required", "invalid_request_error", 400), "invalid"),
    openai("llama.cpp: too long a schema", 400, error("Failed to parse grammar", "invalid_request_error"), "invalid"),
    openai("llama.cpp: no eyes", 500, error(BLIND, "server_error", 500), "image", says="mmproj"),
    # llama.cpp #12947
    openai(
        "llama.cpp: no eyes, in older words",
        500,
        error('Failed to parse messages: Unsupported content part type: "image_url"', "server_error", 500),
        "image",
    ),
    openai("llama.cpp: loading", 503, error("Loading model", "unavailable_error", 503), "outage", says="Loading model"),
    openai("llama.cpp: a wrong key", 401, error("Invalid API Key", "authentication_error", 401), "auth"),
    openai(
        "llama.cpp: no embeddings", 501, error("This server does not support embeddings", "not_supported_error"), "auth"
    ),
    # QAnything #555, bolt.diy #434
    openai("Ollama: no such model", 404, error('model "x" not found, try pulling it first', "api_error"), "auth"),
    openai(
        "Ollama: no such model, plainly", 404, {"error": "model 'qwen3' not found"}, "auth", says="'qwen3' not found"
    ),
    # ollama #14093
    openai("Ollama: crashed", 500, error("model runner has unexpectedly stopped", "api_error"), "internal"),
    # vllm PR #37011, #4667
    openai("vLLM: no such model", 404, error("The model `m` does not exist.", "NotFoundError", 404), "auth"),
    openai(
        "vLLM: a bad request",
        400,
        {"object": "error", "message": "got -186.", "type": "BadRequestError", "code": 400},
        "invalid",
    ),
    openai("vLLM: an error as 200", 200, {"object": "error", "message": "got -186.", "code": 400}, "invalid"),
    openai(
        "Google: a wrong key",
        400,
        [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}],
        "auth",
    ),
]

#: litellm #36729, #14144 and docs.litellm.ai/docs/proxy/users
SPENT = "Budget has been exceeded! Current cost: 10.51, Max budget: 10.00"
WRAPPED = "litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 14.1, Max budget: 10.0"
MODEL_SPENT = "LiteLLM Virtual Key: 9769f3f6, key_alias: None, exceeded budget for model=gpt-4o"
#: litellm #7259
LONG = 'litellm.ContextWindowExceededError: AnthropicError - {"message":"prompt is too long: 200480 tokens > 200000"}'
LOW = 'litellm.BadRequestError: AnthropicException - {"error":{"message":"Your credit balance is too low to access"}}'
OFFLINE = "litellm.APIConnectionError: OllamaException - Server disconnected"

LITELLM = [
    openai("LiteLLM: budget", 400, error(SPENT, "budget_exceeded", "400"), "budget", until=MIDNIGHT, says="Max budget"),
    openai("LiteLLM: budget, as 429", 429, error(SPENT, "budget_exceeded", "429"), "budget", until=MIDNIGHT),
    openai("LiteLLM: budget, wrapped", 400, error(WRAPPED, None, "400"), "budget", until=MIDNIGHT),
    openai("LiteLLM: a model's budget", 400, error(MODEL_SPENT, "budget_exceeded", "400"), "budget", until=MIDNIGHT),
    openai("LiteLLM: credit of what is behind", 400, error(LOW, None, "400"), "credit"),
    openai("LiteLLM: a wrong key", 401, error("Authentication Error, key not found", "auth_error", "401"), "auth"),
    openai("LiteLLM: no such model", 400, error("Invalid model name passed in model=x", None, "400"), "auth"),
    openai("LiteLLM: too long", 400, error(LONG, None, "400"), "invalid"),
    # litellm PR #16231
    openai("LiteLLM: content", 400, error(f"litellm.ContentPolicyViolationError: {FILTERED}", None, "400"), "content"),
    # litellm PR #14149
    openai("LiteLLM: a picture", 400, error("litellm.ImageFetchError: Unable to fetch image", None, "400"), "image"),
    openai("LiteLLM: a timeout", 408, error("litellm.Timeout: Request timed out.", None, "408"), "timeout"),
    openai("LiteLLM: too fast", 429, error("litellm.RateLimitError", "throttling_error", "429"), "rate-limit"),
    openai("LiteLLM: unavailable", 503, error("litellm.ServiceUnavailableError", None, "503"), "outage"),
    openai("LiteLLM: anything else", 500, error(OFFLINE, None, "500"), "internal"),
]

PAGE = "<html>\r\n<head><title>%s</title></head><body><hr><center>nginx</center></body></html>"

#: Proxies and gateways in front.
IN_FRONT = [
    openai("proxy: bad gateway", 502, PAGE % "502 Bad Gateway", "outage", says="502 Bad Gateway"),
    openai(
        "proxy: unavailable", 503, "", "outage", headers={"Retry-After": "Sun, 20 Sep 2026 22:00:00 GMT"}, seconds=1800
    ),
    openai("proxy: too long", 504, PAGE % "504 Gateway Time-out", "timeout"),
    openai("proxy: too large", 413, PAGE % "413 Request Entity Too Large", "invalid"),
    *(openai(f"Cloudflare: {status}", status, PAGE % "origin", "outage") for status in (520, 521, 522, 523, 524)),
    openai("proxy: a redirect", 301, PAGE % "301 Moved Permanently", "auth"),
    openai("proxy: a login page", 200, PAGE % "Sign in", "auth", headers={"content-type": "text/html"}, says="Sign in"),
    openai("proxy: no money", 402, {"message": "Payment Required"}, "credit"),
    openai("proxy: a key", 407, "Proxy Authentication Required", "auth"),
    # OpenAI-sublime-text #148: a wrong address
    openai("gateway: a wrong method", 405, "405 method not allowed", "auth"),
    openai("gateway: a teapot", 418, {"message": "short and stout"}, "internal", says="short and stout"),
    openai("gateway: an answer that broke off", 200, '{"choices": [{"mess', "internal"),
    openai("gateway: an answer of another form", 200, {"status": "ok"}, "internal"),
    openai("gateway: broke off", 200, chat("Fir", "error"), "internal"),
    # RFC 9110 10.2.3, and the bounds of llm.md 2.0
    openai("a wait of no time", 429, "", "rate-limit", headers={"Retry-After": "0"}, seconds=1),
    openai("a wait of days", 429, "", "rate-limit", headers={"Retry-After": "200000"}, seconds=3600),
    openai(
        "a wait that is over",
        429,
        "",
        "rate-limit",
        headers={"Retry-After": "Sun, 20 Sep 2026 20:00:00 GMT"},
        seconds=1,
    ),
    openai("a wait that is none", 429, "", "rate-limit", headers={"Retry-After": "soon"}, seconds=None),
]

ROWS = LOCAL + LITELLM + IN_FRONT
