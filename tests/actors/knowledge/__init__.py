"""Tests of the jobs of the knowledge graph."""
