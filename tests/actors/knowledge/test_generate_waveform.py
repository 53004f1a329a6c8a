"""The waveform of a recording, kept once."""

import json
import struct

import pytest

from actors.knowledge.generate_waveform import generate_waveform
from broker import broker
from jobbko import store
from jobbko.errors import Charged, Missing
from jobbko.testing.queue import drain
from tests.audio.test_peaks import sound


@pytest.fixture
def file(tmp_path):
    return sound(tmp_path / "talk.wav", [1000, -1000] * 400)


def test_the_waveform_is_kept_for_the_node_as_dat_and_json(file, speech):
    assert generate_waveform(file, speech) == {"media_node_id": speech, "new": True, "length": 2, "duration_ms": 100}
    (dat,) = store.rows("select dat from media_peaks where media_node_id = %(id)s", id=speech)[0]
    assert struct.unpack("<iIiiIi4b", bytes(dat)) == (2, 1, 8000, 400, 2, 1, -4, 3, -4, 3)
    assert store.value("select peaks_json(%(id)s)", id=speech) == {
        "version": 2,
        "channels": 1,
        "sample_rate": 8000,
        "samples_per_pixel": 400,
        "bits": 8,
        "length": 2,
        "data": [-4, 3, -4, 3],
    }


def test_a_second_run_changes_nothing_and_another_sound_is_taken(file, speech, tmp_path):
    generate_waveform(file, speech)
    before = store.rows("select *, xmin from media_peaks")
    assert generate_waveform(file, speech)["new"] is False
    assert store.rows("select *, xmin from media_peaks") == before

    sound(tmp_path / "talk.wav", [2000, -2000] * 600)
    assert generate_waveform(file, speech)["new"] is True
    assert store.rows("select length from media_peaks") == [(3,)]


def test_without_a_node_the_recording_is_known_by_its_path_in_the_jobs_own_collection(file, collection):
    broker.job_types.publish()
    for _ in range(2):
        store.run(
            "insert into job_queue (collection_node_id, job_type, payload)"
            " values (%(of)s, 'generate_waveform', %(what)s)",
            of=collection,
            what=json.dumps({"audio_path": file}),
        )
        drain(broker)

    assert store.rows("select collection_node_id, metadata->>'audio_path' from nodes where kind = 'media'") == [
        (collection, file)
    ]
    assert store.rows("select result->'new' from job_queue order by completed_at") == [(True,), (False,)]


@pytest.mark.parametrize(
    ("path", "error"), [("talk.wav", Charged), ("http://127.0.0.1/talk.wav", Charged), ("/no/such/talk.wav", Missing)]
)
def test_what_is_no_file_is_not_opened(collection, path, error):
    with pytest.raises(error):
        generate_waveform(path)
    assert store.value("select count(*) from nodes where kind = 'media'") == 0
