"""Long text is cut where it hurts least, and never loses anything."""

from __future__ import annotations

import random

import pytest

from jobbko.ai.chunks import chunks


@pytest.mark.parametrize(
    ("text", "longest", "pieces"),
    [
        ("", 10, []),
        ("short", 10, ["short"]),
        ("One two. Three four. Five", 16, ["One two. ", "Three four. Five"]),
        ("First part.\n\nSecond part is longer.", 24, ["First part.\n\n", "Second part is longer."]),
        ("no end of a sentence here", 12, ["no end of a ", "sentence ", "here"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("これは文です。次の文。", 8, ["これは文です。", "次の文。"]),
        ('He said "no." Then he left.', 20, ['He said "no." ', "Then he left."]),
    ],
)
def test_a_piece_ends_with_a_paragraph_a_sentence_or_a_word(text, longest, pieces):
    assert chunks(text, longest) == pieces


@pytest.mark.parametrize("seed", range(20))
def test_the_pieces_are_the_text_and_none_is_too_long(seed):
    dice = random.Random(seed)
    text = "".join(dice.choice("ab .\n!?\té日") for _ in range(dice.randint(0, 3000)))
    longest = dice.randint(1, 200)
    pieces = chunks(text, longest)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= longest for piece in pieces)


def test_a_piece_must_hold_something():
    with pytest.raises(ValueError, match="holds nothing"):
        chunks("text", 0)
