"""What was said becomes cues that can be read: not longer than 7 s and 84 characters, at their right times."""

import itertools

import pytest

from jobbko.speech.cues import cues
from jobbko.speech.heard import Said, Word
from jobbko.speech.subtitles import Cue


def spoken(text, start=0.0, each=0.5):
    words = [Word(start + at * each, start + (at + 1) * each, f" {word}") for at, word in enumerate(text.split())]
    return Said(start, words[-1].end, f" {text}", tuple(words))


def test_a_short_sentence_is_one_cue_at_its_place_in_the_recording():
    assert cues([spoken("Good morning, Bergen.")], offset=600) == [Cue(600, 601.5, "Good morning, Bergen.")]


def test_a_long_sentence_is_cut_after_a_comma_if_there_is_one_late_enough():
    text = "This is the first part of it, and here follows what is left of the sentence"
    first, second = cues([spoken(text, each=0.6)])

    assert first.text == "This is the first part of it,"
    assert (first.start, first.end) == (0, pytest.approx(4.2))
    assert second.text == "and here follows what is left of the sentence"
    assert second.start == pytest.approx(4.2)


@pytest.mark.parametrize("each", [0.05, 0.3, 1.5])
def test_no_cue_is_too_long_no_word_is_lost_and_none_overlaps(each):
    text = " ".join(f"word{number}" for number in range(200))
    found = cues([spoken(text, each=each), spoken(text, start=10, each=each)])  # they overlap

    assert " ".join(cue.text for cue in found) == f"{text} {text}"
    assert all(len(cue.text) <= 84 for cue in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    assert all(cue.end - cue.start <= 7.001 for cue in cues([spoken(text, each=each)]))


def test_without_times_of_words_each_gets_its_share_by_its_letters():
    said = Said(0, 30, "aaaa " * 30)  # 150 characters with their spaces: five a second
    found = cues([said])

    assert [len(cue.text.split()) for cue in found] == [7, 7, 7, 7, 2]
    assert found[1].start == pytest.approx(7)


def test_words_that_are_not_those_of_the_text_are_not_trusted():
    said = Said(0, 2, "Right words", (Word(0, 1, " wrong"), Word(1, 2, " words")))
    assert [cue.text for cue in cues([said])] == ["Right words"]


def test_a_word_that_is_longer_than_a_cue_stands_alone():
    found = cues([spoken(f"a {'x' * 100} b")])
    assert [len(cue.text) for cue in found] == [1, 100, 1]
