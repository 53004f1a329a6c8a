"""Models for whoever has no key: an OpenAI-compatible server on this machine, with a tiny model for demonstration."""
