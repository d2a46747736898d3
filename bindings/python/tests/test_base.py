# SPDX-License-Identifier: Apache-2.0
"""Handles: closed twice, used after close, closed during a call, forked."""
import gc
import os
import subprocess
import sys
import threading
import time

import pytest

import aistation
from aistation import documents, errors
from conftest import ROOT


def test_generated_files_are_current():
    if subprocess.run(["which", "protoc"], stdout=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("protoc is not installed")
    result = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "bindings", "python", "generate.py"), "--check"],
                            stdout=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_version_and_features(context):
    assert aistation.version() == aistation.__version__
    assert aistation.feature("sqlite") and not aistation.feature("no such thing")
    assert context.features()["tls1.3"]["present"] is True


def test_use_after_close(context):
    store = context.open_store()
    store.close()
    assert store.closed
    with pytest.raises(errors.Closed):
        store.get("k")


def test_double_close(context):
    store = context.open_store()
    store.close()
    store.close()


def test_children_keep_their_context():
    context = aistation.Context()
    store = context.open_store()
    context.close()
    store.put("k", "v")
    assert store.get("k")[0] == b"v"
    store.close()


def test_close_during_a_call_is_safe(context):
    store = context.open_store()
    watch = store.watch("x")
    seen = []

    def wait():
        try:
            watch.next(1.0)
        except errors.DeadlineExceeded as error:
            seen.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    watch.close()
    store.close()
    thread.join(5)
    assert not thread.is_alive() and len(seen) == 1
    with pytest.raises(errors.Closed):
        watch.next(0)


def test_many_threads_and_a_close(context):
    store = context.open_store()
    unexpected = []

    def work(number):
        try:
            for i in range(10_000):
                store.put("k%d" % number, str(i))
        except errors.Closed:
            pass
        except BaseException as error:  # pylint: disable=broad-except
            unexpected.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    store.close()
    for thread in threads:
        thread.join(20)
    assert not unexpected


def test_nothing_is_left(context):
    before = aistation.live_objects()
    for _ in range(50):
        store = context.open_store()
        store.watch("a")
        with pytest.raises(errors.NotFound):
            store.get("missing")
        del store
    gc.collect()
    assert aistation.live_objects() == before


def test_errors_say_what(store):
    with pytest.raises(errors.NotFound) as caught:
        store.get("nothing-here")
    assert caught.value.reason == "store.no_key" and "nothing-here" in str(caught.value)
    assert isinstance(caught.value, KeyError)
    with pytest.raises(errors.Aborted) as caught:
        store.cas("k", 5, "v")
    assert caught.value.retryable


def test_a_forked_child_is_told_and_leaves_well(context, store):
    store.put("k", "v")
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            store.get("k")
        except errors.FailedPrecondition as error:
            code = 0 if error.reason == "base.forked_child" else 2
        store.close()
        context.close()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert store.get("k")[0] == b"v"


def test_exit_without_closing_anything():
    code = ("import aistation\nc = aistation.Context()\ns = c.open_store()\nw = s.watch('')\n"
            "op = c.query_node\nprint(aistation.version())\n")
    environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "bindings", "python", "src"))
    result = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_log_hook():
    lines = []
    with aistation.Context("logs", log=lambda *record: lines.append(record), log_level="debug") as context:
        with context.open_store() as store:
            with context.open_allocator(store, {"nodes": [{"name": "a", "cards": [{"id": "c"}]}]}) as allocator:
                with context.open_job_manager(store, allocator) as manager:
                    job = manager.submit(name="j", department="d", command=["/bin/true"], resources={"cards": 1})
                    manager.run(job).result(30)
    assert any(module == "job" for _, module, _ in lines)


def test_documents_go_both_ways():
    probe = documents.ProbeMatrix.from_dict({"results": [{"from": 1, "to": 2, "ok": True}], "unknown_field": 1})
    assert probe.results[0].from_ == 1 and probe.results[0].ok
    link = documents.LinkClass
    assert documents.Distance.from_dict({"link": "LINK_CLASS_PIX"}).link is link.PIX
    assert documents.Distance.from_dict({"link": "LINK_CLASS_NEW"}).link is link.UNSPECIFIED
    entry = documents.StoreEntry(key="k", value=b"\x00\xff")
    assert documents.StoreEntry.from_json(entry.to_json()) == entry
