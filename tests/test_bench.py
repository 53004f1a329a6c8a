import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import sounds

BENCH = Path(__file__).parents[1] / "bench"


def last_line(script, *options):
    command = [sys.executable, BENCH / script, "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


@pytest.mark.slow
def test_throughput_runs_without_the_peers():
    rates = last_line("throughput.py", "--only", "stub,jobbko", "--jobs", "200")["jobs_per_second"]

    assert list(rates) == ["jobbko", "dramatiq-pg", "dramatiq-postgres", "procrastinate", "pgqueuer", "stub"]
    assert rates["jobbko"] > 0
    assert rates["stub"] > 0
    assert rates["pgqueuer"] is None


@pytest.mark.slow
def test_enqueue_runs():
    rates = last_line("enqueue.py", "--jobs", "200")["enqueued_per_second"]

    assert all(rate > 0 for rate in rates.values())


@pytest.mark.slow
def test_latency_runs():
    found = last_line("latency.py", "--jobs", "10")["start_latency_ms"]

    assert found["doorbell"]["p50"] > 0
    assert found["polling"]["p50"] > 0


@pytest.mark.slow
def test_the_ledger_agrees_with_who_sold_and_no_budget_is_exceeded_under_fire():
    found = last_line("ledger.py", "--calls", "300")

    assert found["calls"] >= 300
    assert found["rows_exact"] > 0
    assert found["ledger_usd"] == found["account_usd"]
    assert (found["rows_wrong"], found["estimates_below_truth"], found["calls_without_row"]) == (0, 0, 0)
    assert found["budget_calls"] <= 100
    assert found["budget_taken_usd"] == 1.0


@pytest.mark.slow
def test_recommend_runs():
    found = last_line("recommend.py", "--tracks", "3000")

    assert found["median_ms"] > 0
    assert 300 <= found["candidates"] <= 400


@pytest.mark.slow
def test_every_bad_file_that_can_be_made_has_a_verdict_within_its_limits():
    found = last_line("corpus.py", "--made", "--short", "--every", "9")["corpus"]

    assert found["good"]
    assert found["files"] > 10
    assert {"ok", "undecodable"} <= set(found["statuses"]) <= {"ok", "silent", "too_short", "undecodable"}


@pytest.mark.slow
def test_the_analysis_is_put_beside_the_extractor(tmp_path):
    found = last_line("analysis.py", "--rounds", "1", "--file", str(sounds.put(tmp_path / "a.mp3", sounds.music())))

    for side in ("jobbko", "MusicExtractor", "ratio"):
        assert all(figure > 0 for figure in found["analysis"][side].values())


@pytest.fixture
def accuracy(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("accuracy")


def test_the_rendered_pieces_are_all_styles_in_all_keys_over_all_tempos(accuracy):
    clips = accuracy.rendered.clips(2)

    assert clips == accuracy.rendered.clips(2)
    assert len(clips) == len({(clip.style, clip.tonic, clip.mode) for clip in clips}) == 240
    assert {"waltz", "drum and bass"} < {clip.style for clip in clips}
    assert {clip.font for clip in clips} == set(accuracy.rendered.FONTS)
    assert min(clip.bpm for clip in clips) < 63
    assert max(clip.bpm for clip in clips) > 177


@pytest.mark.parametrize(
    ("heard", "score"),
    [
        ((9, "major"), 1.0),
        ((4, "major"), 0.5),  # the fifth above
        ((2, "major"), 0.0),  # the fifth below
        ((6, "minor"), 0.3),  # its relative
        ((9, "minor"), 0.2),  # its parallel
        ((4, "minor"), 0.0),
        ((None, None), 0.0),
    ],
)
def test_a_key_heard_for_a_major_is_worth_what_mirex_says(accuracy, heard, score):
    assert accuracy.key_score((9, "major"), heard) == score


def test_the_relative_of_c_minor_is_e_flat_major(accuracy):
    assert accuracy.key_score((0, "minor"), (3, "major")) == 0.3
