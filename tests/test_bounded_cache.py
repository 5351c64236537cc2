"""The cache of things used last: bounds, order, several threads, forks."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from manipula.bounded_cache import BoundedCache, Lock


def test_what_was_used_longest_ago_goes_first():
    cache: BoundedCache[str] = BoundedCache(3)
    for key in "abc":
        cache.put(key, key.upper())
    assert cache.get("a") == "A"
    cache.put("d", "D")
    assert [key for key, _ in cache.items()] == ["c", "a", "d"]
    assert cache.get("b") is None


def test_the_first_one_stays_unless_it_is_replaced():
    cache: BoundedCache[str] = BoundedCache(3)
    assert cache.put("a", "first") == "first"
    assert cache.put("a", "second") == "first"
    assert cache.replace("a", "third") == "third"
    assert cache.items() == [("a", "third")]
    cache.clear()
    assert cache.items() == []


def test_sizes_are_added_up():
    cache: BoundedCache[bytes] = BoundedCache(10, len)
    cache.replace("a", b"1234")
    cache.replace("a", b"12")
    cache.replace("b", b"12345678")
    assert [key for key, _ in cache.items()] == ["a", "b"]
    cache.replace("c", b"1")
    assert [key for key, _ in cache.items()] == ["b", "c"]
    cache.replace("huge", bytes(11))
    assert cache.items() == []
    cache.replace("d", bytes(10))
    assert len(cache.items()) == 1


def test_several_threads_agree_on_one_thing_and_the_bound_holds():
    cache: BoundedCache[object] = BoundedCache(5)
    one: BoundedCache[object] = BoundedCache(1)
    together, found = threading.Barrier(8), []

    def work(k):
        together.wait()
        found.append(one.put("shared", object()))
        for n in range(500):
            cache.get((k, n - 1))
            cache.put((k, n), n)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(thing) for thing in found}) == 1
    assert len(cache.items()) == 5
    assert cache._total == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_finds_the_lock_open():
    lock = Lock()
    with lock.here:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(200)  # a child that hangs dies
            free = lock.here.acquire(blocking=False)
            os._exit(0 if free else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not lock.here.acquire(blocking=False)
