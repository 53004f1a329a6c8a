"""Tests of cues, subtitles and pieces."""
