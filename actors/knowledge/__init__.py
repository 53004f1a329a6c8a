"""Podcasts, meetings and the knowledge graph."""
