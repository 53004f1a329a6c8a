"""Jobbkø: background jobs for applications that live on audio, text and pictures, with Postgres as the queue."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("jobbko")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0+unknown"
