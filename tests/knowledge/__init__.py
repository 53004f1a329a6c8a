"""Tests of what the jobs of the knowledge graph share."""
