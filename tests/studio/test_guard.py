"""Who may talk to the studio: a matrix of hosts, origins, keys and methods, and everything but our own page is refused."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("starlette", reason="the studio is an extra")

from manipula.studio.guard import MOST_BYTES, Guard, Refused

PORT, TOKEN = 8123, "kEy-0123456789_abcdefghijkl"
COOKIE = f"manipula-{PORT}={TOKEN}"
OWN = f"http://127.0.0.1:{PORT}"


async def nothing(scope, receive, send):  # the application: never reached in these tests
    raise AssertionError("reached")


def scope(
    method="POST", path="/api/run", host=f"127.0.0.1:{PORT}", origin=OWN, cookie=COOKIE, kind="http", query=b"", **more
):
    headers = [(b"host", host.encode())] if host is not None else []
    for name, value in {
        "origin": origin,
        "cookie": cookie,
        **{k.replace("_", "-"): v for k, v in more.items()},
    }.items():
        if value is not None:
            headers.append((name.encode(), value.encode()))
    return {"type": kind, "method": method, "path": path, "headers": headers, "query_string": query}


def accepted(found) -> bool:
    try:
        Guard(nothing, PORT, TOKEN).check(found)
    except Refused:
        return False
    return True


HOSTS = [f"127.0.0.1:{PORT}", f"localhost:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"evil.example:{PORT}", f"127.0.0.1.nip.io:{PORT}",
         f"[::1]:{PORT}", "", None, f"0.0.0.0:{PORT}", f"127.0.0.1:{PORT}@evil.example"]  # fmt: skip
ORIGINS = [OWN, f"http://localhost:{PORT}", None, "null", "http://evil.example", f"https://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}.evil.example",
           "http://127.0.0.1", "file://", ""]  # fmt: skip
COOKIES = [COOKIE, None, f"manipula-{PORT}=", f"manipula-{PORT}={TOKEN[:-1]}", f"manipula-{PORT}={TOKEN}x", f"manipula={TOKEN}",
           f"manipula-{PORT + 1}={TOKEN}", "\x00;=;,", f"manipula-{PORT}={TOKEN.lower()}"]  # fmt: skip
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"]
GOOD_HOSTS, GOOD_ORIGINS, GOOD_COOKIES = set(HOSTS[:2]), set(ORIGINS[:2]), {COOKIE}


def test_every_combination_of_host_origin_key_and_method():
    refused = 0
    for host, origin, cookie, method in itertools.product(HOSTS, ORIGINS, COOKIES, METHODS):
        reading = method in ("GET", "HEAD")
        right = (
            host in GOOD_HOSTS
            and (origin in GOOD_ORIGINS or (reading and origin is None))
            and cookie in GOOD_COOKIES
            and (reading or method == "POST")
        )
        assert accepted(scope(method, host=host, origin=origin, cookie=cookie)) == right, (host, origin, cookie, method)
        refused += not right
    assert refused > 9000


@pytest.mark.parametrize("origin", ORIGINS)
def test_sockets_are_opened_by_our_own_page_only(origin):
    assert accepted(scope("GET", "/watch", origin=origin, kind="websocket")) == (origin in GOOD_ORIGINS)


def test_sockets_need_the_key():
    assert not accepted(scope("GET", "/watch", cookie=None, kind="websocket"))
    assert not accepted(scope("GET", "/watch", cookie=None, kind="websocket", query=f"token={TOKEN}".encode()))


@pytest.mark.parametrize(
    ("path", "query", "right"),
    [
        ("/", f"token={TOKEN}", True),
        ("/", "", False),
        ("/", "token=", False),
        ("/", f"token={TOKEN}x", False),
        ("/", f"token={TOKEN}&token={TOKEN}", False),
        ("/", f"TOKEN={TOKEN}", False),
        ("/api/run", f"token={TOKEN}", False),
        ("/static/app.js", f"token={TOKEN}", False),
        ("//", f"token={TOKEN}", False),
    ],
)
def test_the_key_in_the_address_opens_the_page_and_nothing_else(path, query, right):
    assert accepted(scope("GET", path, origin=None, cookie=None, query=query.encode())) == right


def test_the_key_in_the_address_changes_nothing():
    assert not accepted(scope("POST", "/", cookie=None, query=f"token={TOKEN}".encode()))


@pytest.mark.parametrize("length", [str(MOST_BYTES + 1), "-1", "1e3", "٣", "9" * 400, "0x10", " "])
def test_sizes_that_are_too_large_or_no_numbers_are_refused(length):
    found = scope()
    found["headers"].append((b"content-length", length.encode("utf-8")))
    assert not accepted(found)


def test_two_hosts_or_two_origins_are_refused():
    for name, value in ((b"host", f"127.0.0.1:{PORT}".encode()), (b"origin", OWN.encode())):
        found = scope()
        found["headers"].append((name, value))
        assert not accepted(found)


def test_long_addresses_and_requests_of_other_sites_are_refused():
    assert not accepted(scope("GET", "/" + "a" * 5000))
    assert not accepted(scope("GET", "/static/app.js", origin=None, sec_fetch_site="cross-site"))
    assert accepted(scope("GET", "/static/app.js", origin=None, sec_fetch_site="same-origin"))


def test_answers_forbid_everything_but_this_server():
    headers = dict(Guard(nothing, PORT, TOKEN).headers)
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "http:" not in policy
    assert "*" not in policy
    assert "script-src 'self';" in policy  # nothing inline
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_a_ticket_lets_one_page_in():
    guard = Guard(nothing, PORT, TOKEN, "tIcKeT-0123456789")
    page = lambda query, **more: scope(**{"method": "GET", "path": "/", "cookie": None, "query": query, **more})
    right = b"ticket=tIcKeT-0123456789"
    for wrong in (
        page(b"ticket=tIcKeT-012345678"), page(b"ticket="), page(b"ticket=None"), page(b"token=tIcKeT-0123456789"), page(right + b"&" + right),
        page(right, method="HEAD"), page(right, host="evil.example"), page(right, origin="http://evil.example"), page(right, path="/theme.css"),
        page(right, kind="websocket"), page(right, content_length="999999999"),
    ):  # fmt: skip
        with pytest.raises(Refused):
            guard.check(wrong)
    assert guard.check(page(right)) is True  # the answer sets the cookie
    with pytest.raises(Refused):
        guard.check(page(right))
    for none in (None, ""):
        with pytest.raises(Refused):
            Guard(nothing, PORT, TOKEN, none).check(page(b"ticket="))
