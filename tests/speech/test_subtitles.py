"""Subtitles as they are found in the wild. Times and texts are read off the files by eye."""

import pytest

from jobbko.errors import Charged
from jobbko.speech import subtitles
from jobbko.speech.subtitles import Cue

PLAIN = "1\n00:00:01,000 --> 00:00:02,500\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo\nlines.\n"
CUES = [(1.0, 2.5, "Hello."), (3.0, 4.0, "Two lines.")]


def read(text, encoding="utf-8"):
    content = text if isinstance(text, bytes) else text.encode(encoding)
    return [(cue.start, cue.end, cue.text) for cue in subtitles.read(content).cues]


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        PLAIN.replace(",", ".").encode(),
        ("WEBVTT - a title\n\nNOTE a\ncomment\n\n" + PLAIN.replace(",", ".")).encode(),
        PLAIN.replace("1\n", "", 1).replace("\n2\n", "\n").encode(),
        PLAIN.replace("2,500", "2,500 X1:10 X2:20 Y1:1 Y2:2").encode(),
        PLAIN.replace("Hello.", "<i>Hello.</i>{\\an8}").encode(),
        PLAIN.replace("00:00:0", "00:0").encode(),
        PLAIN.replace("2,500", "2,5").encode(),
        PLAIN.replace(" --> ", "-->").encode(),
        PLAIN.rstrip().encode(),
    ],
    ids=["utf-8", "mark", "utf-16", "crlf", "cr", "dots", "vtt", "no numbers", "coordinates", "tags", "no hours",
         "short milliseconds", "no spaces", "no end"],
)  # fmt: skip
def test_the_same_cues_in_every_dress(content):
    assert read(content) == CUES


def test_a_file_of_windows_is_not_mangled():
    assert read("1\n00:00:01,000 --> 00:00:02,000\nBlåbærsyltetøy – på\n", "cp1252") == [
        (1.0, 2.0, "Blåbærsyltetøy – på")
    ]


def test_minutes_and_seconds_are_not_taken_for_something_else():
    # SubRip without hours: 0 to 2 seconds; one library reads 2 minutes.
    assert read("00:00,000 --> 00:02,000\nHei.\n") == [(0.0, 2.0, "Hei.")]


def test_more_than_99_hours_are_hours():
    assert read("100:00:01,000 --> 100:00:02,000\nStill here.\n") == [(360001.0, 360002.0, "Still here.")]


def test_a_blank_line_inside_a_text_and_a_number_in_it_are_text():
    assert read("1\n00:00:01,000 --> 00:00:02,000\nOne\n\nand\n1984\n\n2\n00:00:03,000 --> 00:00:04,000\nx\n") == [
        (1.0, 2.0, "One and 1984"),
        (3.0, 4.0, "x"),
    ]


def test_what_ends_before_it_begins_gets_a_millisecond_and_what_is_empty_goes():
    assert read("00:00:05,000 --> 00:00:04,000\na\n\n00:00:06,000 --> 00:00:07,000\n \n") == [(5.0, 5.001, "a")]


def test_cues_are_sorted_and_overlaps_told_of():
    found = subtitles.read(b"00:00:05,000 --> 00:00:09,000\nb\n\n00:00:01,000 --> 00:00:06,000\na\n")

    assert [cue.text for cue in found.cues] == ["a", "b"]
    assert found.overlapping == 1


def test_a_line_that_is_no_time_is_told_with_its_number():
    found = subtitles.read(b"1\n00:00:01,000 --> soon\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo.\n")

    assert [cue.text for cue in found.cues] == ["Two."]
    assert found.rejected == [(2, "00:00:01,000 --> soon")]


def test_entities_and_invisible_characters_are_resolved():
    assert read("00:01.000 --> 00:02.000\nTom &amp; Jerry\u200b &lt;3\u202e\x07\n") == [(1.0, 2.0, "Tom & Jerry <3")]


@pytest.mark.parametrize("content", [b"", b"Dear diary,\n", b"WEBVTT\n\n", b"\x00\x01\x02" * 100])
def test_a_file_without_a_cue_is_refused(content):
    with pytest.raises(Charged, match="no cue"):
        subtitles.read(content)


def test_a_file_that_is_too_large_and_a_cue_that_is_too_long_are_not_taken():
    with pytest.raises(Charged, match="at most 10485760 bytes"):
        subtitles.read(b"x" * (10 * 1024 * 1024 + 1))
    found = subtitles.read(b"00:01.000 --> 00:02.000\n" + b"x" * 2001 + b"\n\n00:03.000 --> 00:04.000\ny\n")
    assert [cue.text for cue in found.cues] == ["y"]
    assert found.rejected == [(1, "2001 characters")]


def test_srt_and_vtt_are_written_as_players_take_them():
    cues = [Cue(0, 1.0006, "Hello --> you & me"), Cue(3661.5, 3662, "<b>")]

    assert subtitles.srt(cues) == (
        "1\n00:00:00,000 --> 00:00:01,001\nHello -> you & me\n\n2\n01:01:01,500 --> 01:01:02,000\n<b>\n"
    )
    assert subtitles.vtt(cues) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.001\nHello -&gt; you &amp; me\n\n"
        "01:01:01.500 --> 01:01:02.000\n&lt;b&gt;\n"
    )


@pytest.mark.parametrize("write", [subtitles.srt, subtitles.vtt])
def test_what_is_written_is_read_again(write):
    cues = [Cue(1.0, 2.5, "Hello."), Cue(3.0, 4.0, "Tom & Jerry, 1984")]

    assert subtitles.read(write(cues).encode()).cues == cues
