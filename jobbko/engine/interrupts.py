"""Exceptions that arrive in a running job from outside, between two lines of its code."""

from dramatiq.middleware import Interrupt


class Cancelled(Interrupt):
    """Somebody cancelled the job, or another worker has it now: stop, nothing more can be written for it."""
