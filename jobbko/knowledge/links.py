"""Links in what a model wrote: only to where its source led, and nothing that a browser would run."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\]]*)\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_BARE = re.compile(r"<?\b(?:https?|ftp|javascript|data|file|vbscript):[^\s)>\]]+>?", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^>]*>|<!--.*?-->", re.DOTALL)


def only_known(markdown: str, source: str) -> str:
    """Markdown without HTML and pictures; a link whose address is not in the source is only its words."""

    def link(found: re.Match[str]) -> str:
        return f"[{found[1]}]({found[2]})" if _known(found[2], source) else found[1]

    def bare(found: re.Match[str]) -> str:
        return found[0] if _known(found[0].strip("<>").rstrip(".,;:!?"), source) else ""

    # Bare addresses first, inside links too: what is left in a link is known or gone.
    return _LINK.sub(link, _BARE.sub(bare, _TAG.sub("", markdown)))


def _known(address: str, source: str) -> bool:
    if not re.match(r"https?://", address, re.IGNORECASE):
        return False
    return re.search(re.escape(address) + r"(?![\w/%?=&#-])", source) is not None
