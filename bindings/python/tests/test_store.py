# SPDX-License-Identifier: Apache-2.0
import multiprocessing
import threading
import time

import pytest

import aistation
from aistation import errors


def test_put_get_cas_delete(store):
    revision = store.put("a", b"1\x00\xff")
    assert store.get("a") == (b"1\x00\xff", revision)
    second = store.cas("a", revision, "2")
    assert second > revision
    with pytest.raises(errors.Aborted):
        store.cas("a", revision, "3")
    store.delete("a", second)
    with pytest.raises(errors.NotFound):
        store.delete("a")


def test_range_and_order(store):
    for key in ("b", "a/2", "a/1"):
        store.put(key, key)
    found = store.range("a/")
    assert [e.key for e in found.entries] == ["a/1", "a/2"] and not found.more
    assert store.range("", limit=1).more


def test_watch_sees_changes_in_order(store):
    with store.watch("k") as watch:
        def write():
            for i in range(5):
                store.put("k%d" % i, str(i))
            store.delete("k0")
        thread = threading.Thread(target=write)
        thread.start()
        events = [watch.next(5) for _ in range(6)]
        thread.join()
    assert [e.entry.key for e in events] == ["k0", "k1", "k2", "k3", "k4", "k0"]
    assert [e.deleted for e in events] == [False] * 5 + [True]
    assert [e.revision for e in events] == sorted(e.revision for e in events)


def test_watch_times_out(store):
    with store.watch("none") as watch, pytest.raises(errors.DeadlineExceeded) as caught:
        watch.next(0.05)
    assert caught.value.reason == "store.no_event" and isinstance(caught.value, TimeoutError)


def test_lease_ends_keys(store):
    lease = store.lease(0.2)
    store.put("alive", "1", lease)
    lease.keep_alive()
    assert store.get("alive")[0] == b"1"
    time.sleep(0.5)
    with pytest.raises(errors.NotFound):
        store.get("alive")
    with pytest.raises(errors.NotFound):
        lease.keep_alive()


def test_sqlite_is_there_for_the_next_process(context, tmp_path):
    path = str(tmp_path / "s.db")
    with context.open_store(path) as store:
        store.put("k", "v")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(read_key, (path,)) == b"v"


def read_key(path):
    with aistation.Context() as context, context.open_store(path) as store:
        return store.get("k")[0]


def test_a_file_that_is_no_store(context, tmp_path):
    path = tmp_path / "s.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 50)
    with pytest.raises(errors.AistError) as caught:
        context.open_store(path)
    assert str(path) in str(caught.value)


def test_audit_chain(store):
    for i in range(3):
        assert store.audit_append("user", "act", "thing", {"i": i}) == i + 1
    assert [e.seq for e in store.audit_read().entries] == [1, 2, 3]
    assert store.audit_verify().ok
    found = store.range("audit/")
    store.put(found.entries[1].key, b"forged")
    verification = store.audit_verify()
    assert not verification.ok and verification.first_bad_seq == 2
