"""What a speech server's answer says: its segments and words, without what the model imagined."""

import pytest

from jobbko.errors import Charged
from jobbko.speech import heard
from jobbko.speech.heard import Said, Word


def segment(start, end, text, **more):
    return {"start": start, "end": end, "text": text, **more}


def test_words_are_taken_from_their_segment_or_from_beside_it():
    words = [{"start": 0.1, "end": 0.5, "word": " Hei"}, {"start": 1.2, "end": 1.6, "word": " du"}]
    expected = [Said(0, 1, " Hei", (Word(0.1, 0.5, " Hei"),)), Said(1, 2, " du", (Word(1.2, 1.6, " du"),))]
    inside = [segment(0, 1, " Hei", words=words[:1]), segment(1, 2, " du", words=words[1:])]
    beside = [segment(0, 1, " Hei"), segment(1, 2, " du")]

    assert heard.said({"segments": inside}, 10) == expected
    assert heard.said({"segments": beside, "words": words}, 10) == expected


def test_words_in_silence_are_left_out():
    """faster-whisper #465: 20 s of zeros gave " You" with no_speech_prob 0.94."""
    silent = segment(0, 2, " You", no_speech_prob=0.94, avg_logprob=-1.2)
    sure = segment(2, 4, " Yes.", no_speech_prob=0.94, avg_logprob=-0.2)

    assert [each.text for each in heard.said({"segments": [silent, sure]}, 10)] == [" Yes."]


@pytest.mark.parametrize(("times", "kept"), [(1, 1), (2, 2), (3, 1), (40, 1)])
def test_a_loop_of_the_model_is_said_once_and_what_somebody_says_twice_is_kept(times, kept):
    loop = [segment(at, at + 1, "Thank you." if at % 2 else " thank you. ") for at in range(times)]

    assert len(heard.said({"segments": [*loop, segment(times, times + 1, "Bye.")]}, 100)) == kept + 1


def test_times_outside_of_the_piece_are_brought_inside_and_what_has_no_time_left_is_dropped():
    found = heard.said({"segments": [segment(-1, 3, "a"), segment(9, 12, "b"), segment(11, 12, "c")]}, 10)

    assert found == [Said(0, 3, "a"), Said(9, 10, "b")]


def test_an_answer_without_times_is_one_segment_of_the_whole_piece():
    assert heard.said({"text": " All of it. "}, 8.5) == [Said(0, 8.5, " All of it. ")]
    assert heard.said({"text": "  "}, 8.5) == []


def test_subtitles_are_an_answer_too():
    assert heard.said("1\n00:00:01,000 --> 00:00:02,500\nHei.\n", 8) == [Said(1, 2.5, "Hei.")]


@pytest.mark.parametrize("body", [None, [], {"segments": "none"}, {"error": "x"}, "<html>", 3])
def test_an_answer_of_another_form_is_invalid(body):
    with pytest.raises(Charged, match="no transcript"):
        heard.said(body, 8)


@pytest.mark.parametrize(
    "bad", [None, "x", {}, {"start": "0", "end": 1, "text": "a"}, {"start": float("nan"), "end": 1, "text": "a"}]
)
def test_a_segment_of_another_form_is_dropped_and_the_others_kept(bad):
    assert [each.text for each in heard.said({"segments": [bad, segment(0, 1, "b", words=[bad])]}, 8)] == ["b"]
