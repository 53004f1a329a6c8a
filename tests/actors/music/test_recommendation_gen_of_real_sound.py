"""The whole way from rendered music of known tempo and key to what follows what."""

import pytest

from actors.music.audio_analysis import audio_analysis, unanalysed
from tests.actors.music.listening import id_of, play, recommend, start
from tests.actors.music.scanning import collection, rescan


@pytest.mark.slow
def test_after_120_bpm_in_a_minor_comes_128_bpm_in_e_minor(tx, library):
    # As jobbko.demo.samples renders them. E minor is one step on the wheel from A minor, a fifth up.
    rescan(library)
    for track in list(unanalysed([collection(library)])):
        audio_analysis(track)
    session = start(collection(library))
    play(session, id_of("Boathouse"))

    titles = recommend(session, "playback_completed")

    assert titles[0] == "Semaphore"
    assert len(titles) == 6
    assert "Broken Tape" not in titles
