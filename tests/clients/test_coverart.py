"""The Cover Art Archive, as its documentation describes it."""

import pytest

from jobbko.clients import coverart
from jobbko.errors import Charged, Missing, Throttled

#: A client asks the queue for a permit before each request.
pytestmark = pytest.mark.usefixtures("tx")

MBID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
OTHER = "b1a9c0e9-d987-4042-ae91-78d6a3267d69"
RELEASE = f"https://coverartarchive.org/release/{MBID}"


def image(number: int, *, types=("Front",), approved=True, front=True, suffix="jpg", release=MBID) -> dict:
    return {
        "id": number,
        "types": list(types),
        "front": front,
        "approved": approved,
        "image": f"http://coverartarchive.org/release/{release}/{number}.{suffix}",
        "thumbnails": {},
    }


def test_gives_the_large_thumbnail_of_the_front_cover(http):
    http.on("GET", RELEASE, json={"images": [image(1, types=["Back"], front=False), image(2)]})
    http.on("GET", f"{RELEASE}/2-1200.jpg", content=b"jpeg")

    assert list(coverart.front_covers(MBID)) == [(f"{RELEASE}/2-1200.jpg", b"jpeg")]


def test_asks_in_small_letters(http):
    http.on("GET", RELEASE, json={"images": []})

    assert list(coverart.front_covers(MBID.upper())) == []


def test_takes_the_upload_itself_where_there_is_no_thumbnail(http):
    http.on("GET", RELEASE, json={"images": [image(2, suffix="png")]})
    http.on("GET", f"{RELEASE}/2-1200.jpg", status=404)
    http.on("GET", f"{RELEASE}/2.png", content=b"png")

    assert list(coverart.front_covers(MBID)) == [(f"{RELEASE}/2.png", b"png")]


def test_leaves_alone_what_is_not_approved_not_a_front_or_a_document(http):
    images = [image(1, approved=False), image(2, types=["Booklet"], front=False), image(3, suffix="pdf"), "nonsense"]
    http.on("GET", RELEASE, json={"images": images})

    assert list(coverart.front_covers(MBID)) == []


def test_asks_for_one_picture_at_a_time(http):
    http.on("GET", RELEASE, json={"images": [image(1), image(2)]})
    http.on("GET", f"{RELEASE}/1-1200.jpg", content=b"first")

    assert next(coverart.front_covers(MBID))[1] == b"first"
    assert len(http.requests) == 2


def test_a_group_has_the_cover_of_one_of_its_releases(http):
    http.on("GET", f"https://coverartarchive.org/release-group/{MBID}", json={"images": [image(9, release=OTHER)]})
    http.on("GET", f"https://coverartarchive.org/release/{OTHER}/9-1200.jpg", content=b"jpeg")

    ((address, data),) = coverart.front_covers(MBID, group=True)

    assert OTHER in address
    assert data == b"jpeg"


def test_goes_nowhere_else_whatever_the_answer_says(http):
    evil = image(1) | {"image": "http://169.254.169.254/latest/meta-data"}
    http.on("GET", RELEASE, json={"images": [evil]})

    assert list(coverart.front_covers(MBID)) == []


@pytest.mark.parametrize("answer", [b"[]", b'"x"', b'{"images": null}'])
def test_an_answer_of_another_shape_has_no_covers(http, answer):
    http.on("GET", RELEASE, content=answer)

    assert list(coverart.front_covers(MBID)) == []


def test_an_answer_that_is_not_json_counts_as_a_failure_of_the_content(http):
    http.on("GET", RELEASE, content=b"<html>")

    with pytest.raises(Charged) as failure:
        list(coverart.front_covers(MBID))

    assert failure.value.kind == "content"


def test_nothing_known_is_missing(http):
    http.on("GET", RELEASE, status=404)

    with pytest.raises(Missing):
        list(coverart.front_covers(MBID))


def test_waits_as_long_as_it_is_told(http):
    http.on("GET", RELEASE, status=503, headers={"Retry-After": "7"})

    with pytest.raises(Throttled) as wait:
        list(coverart.front_covers(MBID))

    assert (wait.value.service, wait.value.retry_after) == ("coverart", 7)
