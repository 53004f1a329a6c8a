"""Flows: which job follows which."""
