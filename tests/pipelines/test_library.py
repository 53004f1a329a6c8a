"""The music flow: what a scan is followed by."""

import pytest

from actors.music.filesystem_rescan import filesystem_rescan
from broker import broker
from jobbko import audio
from jobbko.store import metadata, music, music_scan
from pipelines import library

pytestmark = pytest.mark.usefixtures("tx")


@pytest.fixture
def root(tmp_path):
    for number in range(3):
        (tmp_path / "root").mkdir(exist_ok=True)
        (tmp_path / "root" / f"{number}.mp3").write_bytes(b"sound %d" % number)
    return tmp_path / "root"


def steps(flow) -> list[tuple[str, dict]]:
    return [(message.actor_name, message.kwargs) for message in flow.messages]


def measurements(result) -> list:
    return [flow for flow in library.each_track(result) if steps(flow)[0][0] == "audio_analysis"]


def looked_up(result) -> list:
    return [flow for flow in library.each_track(result) if [name for name, _ in steps(flow)] == ["metadata_refresh"]]


def test_refreshing_a_track_is_measuring_and_then_its_cover():
    assert steps(library.refresh("7")) == [
        ("audio_analysis", {"track_id": "7"}),
        ("artwork_download", {"track_id": "7"}),
    ]


def test_no_step_is_handed_the_result_of_the_one_before():
    first, second = library.refresh("7").messages

    assert second.options["pipe_ignore"] is True
    assert first.options["pipe_target"]["message_id"] == second.message_id


def test_scanning_is_the_scan_alone_so_that_what_follows_it_does():
    (only,) = library.scan("/music", full=True).messages

    assert (only.actor_name, only.kwargs) == ("filesystem_rescan", {"root": "/music", "full": True})
    assert "pipe_target" not in only.options
    assert broker.flows.rules["filesystem_rescan"] == [library.each_track]


def test_every_track_that_waits_for_it_is_measured_in_its_own_collection(root):
    result = filesystem_rescan(root=str(root))

    flows = measurements(result)

    collection = music_scan.root(root).collection_node_id
    assert len(flows) == 3
    assert {flow.messages[0].kwargs["track_id"] for flow in flows} == {
        music.track_at(collection, b"%d.mp3" % number).id for number in range(3)
    }
    assert {message.options["collection"] for flow in flows for message in flow.messages} == {collection}
    assert [name for name, _ in steps(flows[0])] == ["audio_analysis", "artwork_download"]


def test_what_is_measured_is_not_measured_again_and_what_a_killed_scan_left_is(root):
    collection = filesystem_rescan(root=str(root))["roots"][0]["collection"]
    done = music.track_at(collection, b"0.mp3")
    music.set_features(
        done.id,
        analyzer=audio.ANALYZER,
        version=audio.VERSION,
        size=done.size,
        mtime_ns=done.mtime_ns,
        measured={"status": "ok"},
    )

    assert len(measurements(filesystem_rescan(root=str(root)))) == 2


def test_beside_it_and_apart_every_track_has_its_metadata_looked_up_once(root):
    result = filesystem_rescan(root=str(root))
    done, *_ = looked_up(result)
    track = music.track(done.messages[0].kwargs["track_id"])
    assert len(looked_up(result)) == 3

    metadata.set_refreshed(track.id, size=track.size, mtime_ns=track.mtime_ns)

    flows = looked_up(filesystem_rescan(root=str(root)))
    assert len(flows) == 2
    assert {message.options["collection"] for flow in flows for message in flow.messages} == {track.collection_node_id}


@pytest.mark.parametrize("named", [True, False])
def test_a_reindex_reads_every_file_and_looks_up_every_track_again(root, named):
    result = filesystem_rescan(root=str(root))
    for flow in looked_up(result):
        track = music.track(flow.messages[0].kwargs["track_id"])
        metadata.set_refreshed(track.id, size=track.size, mtime_ns=track.mtime_ns)

    flow = library.reindex(str(root) if named else None)

    assert steps(flow) == [("filesystem_rescan", {"root": str(root) if named else None, "full": True})]
    assert len(looked_up(filesystem_rescan(root=str(root)))) == 3


@pytest.mark.parametrize(
    ("new_ids", "expected"), [(False, ["lyrics_download"]), (True, ["lyrics_download", "artwork_download"])]
)
def test_after_its_metadata_come_the_words_and_with_new_ids_the_cover(new_ids, expected):
    flows = list(library.more_about_it({"track_id": "7", "new_ids": new_ids}))

    assert [steps(flow) for flow in flows] == [[(name, {"track_id": "7"})] for name in expected]
    assert broker.flows.rules["metadata_refresh"] == [library.more_about_it]


def test_nothing_is_started_for_a_root_that_is_not_there(root):
    filesystem_rescan(root=str(root))
    root.rename(root.parent / "unmounted")

    assert list(library.each_track(filesystem_rescan(root=str(root)))) == []
    assert list(library.each_track(filesystem_rescan(root="/typo"))) == []
