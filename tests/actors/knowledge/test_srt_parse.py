"""A file of subtitles becomes a transcript, once; a changed file becomes a new version."""

import pytest

from actors.knowledge.srt_parse import srt_parse
from jobbko import store
from jobbko.errors import Charged, Missing
from jobbko.store import transcripts
from tests.actors.knowledge.writing import recording

SRT = "1\n00:00:01,000 --> 00:00:02,500\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nThere.\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "talk.srt"
    path.write_text(SRT)
    return path


@pytest.fixture
def media(collection):
    """A recording without a transcript."""
    node = recording(collection, [])
    store.run("delete from transcriptions")
    return node


def said(media):
    return [(each.start_ms, each.end_ms, each.text) for each in transcripts.segments(media)]


def test_the_cues_are_the_segments(file, media):
    assert srt_parse(str(file), media) == {
        "media_node_id": media,
        "kind": "media",
        "new": True,
        "segments": 2,
        "overlapping": 0,
        "rejected": [],
    }
    assert said(media) == [(1000, 2500, "Hello."), (3000, 4000, "There.")]
    assert store.rows("select version, source, duration_ms, current from transcriptions") == [(1, "srt", 4000, True)]


def test_a_second_run_makes_no_version(file, media):
    srt_parse(str(file), media)

    assert srt_parse(str(file), media)["new"] is False
    assert store.value("select count(*) from transcriptions") == 1


def test_a_changed_file_makes_a_version_and_the_old_one_is_kept(file, media):
    srt_parse(str(file), media)
    file.write_text(SRT.replace("There.", "Where?"))
    srt_parse(str(file), media)

    assert [text for _, _, text in said(media)] == ["Hello.", "Where?"]
    assert store.rows("select version, current from transcriptions order by 1") == [(1, False), (2, True)]
    assert store.value("select count(*) from transcription_segments") == 4


def test_lines_that_cannot_be_understood_are_told_of(file, media):
    file.write_text(SRT + "\n3\n00:00:05 -> 6 --> ?\nx\n")

    assert srt_parse(str(file), media)["rejected"] == [{"line": 10, "why": "00:00:05 -> 6 --> ?"}]


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("talk.srt", Charged, "must begin with /"),
        ("/no/such/talk.srt", Missing, "is gone"),
        ("/dev/null", Charged, "is no file"),
        ("/proc", Charged, "is no file"),
    ],
)
def test_what_is_no_file_is_told_with_its_path(media, path, error, why):
    with pytest.raises(error, match=f"{path}.*{why}"):
        srt_parse(path, media)


def test_a_file_that_holds_no_cue_leaves_the_transcript_as_it_is(file, media):
    srt_parse(str(file), media)
    file.write_text("Dear diary,")

    with pytest.raises(Charged):
        srt_parse(str(file), media)
    assert len(said(media)) == 2


def test_a_recording_that_is_gone_is_nothing_to_do(file, database):
    with pytest.raises(Missing):
        srt_parse(str(file), "00000000-0000-0000-0000-0000000000ff")
