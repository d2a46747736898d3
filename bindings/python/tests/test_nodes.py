# SPDX-License-Identifier: Apache-2.0
"""Two nodes in this process, operations, asyncio, datasets in forked readers."""
import asyncio
import os
import time

import pytest

import aistation
from aistation import errors


@pytest.fixture
def nodes(context, identities, tmp_path):
    out = []
    for name in ("a", "b"):
        tls = context.load_tls(*identities(name))
        out.append(context.start_node(name, tmp_path / name, tls, inventory={"name": name}, allow_launch=True))
    yield out
    for node in out:
        node.close()


@pytest.fixture
def source(tmp_path):
    directory = tmp_path / "source"
    directory.mkdir()
    for i in range(30):
        (directory / ("f%02d" % i)).write_bytes(bytes([i]) * (1000 * i))
    return directory


def members(nodes):
    return [{"node": n.describe().name, "address": "127.0.0.1", "port": n.port} for n in nodes]


def test_query_and_identity(context, nodes, identities):
    tls = context.load_tls(*identities("a"))
    assert "a" in tls.describe()["names"]
    tls.reload()
    status = context.query_node(tls, "127.0.0.1", nodes[1].port).result(20)
    assert status.name == "b" and status.port == nodes[1].port


def test_a_name_that_the_certificate_lacks(context, identities, tmp_path):
    with pytest.raises(errors.InvalidArgument) as caught:
        context.start_node("z", tmp_path / "z", context.load_tls(*identities("a")), inventory={"name": "z"})
    assert "SAN" in str(caught.value)


def test_one_process_a_directory(context, nodes, identities, tmp_path):
    with pytest.raises(errors.FailedPrecondition) as caught:
        context.start_node("a", tmp_path / "a", context.load_tls(*identities("a")), inventory={"name": "a"})
    assert caught.value.reason == "node.directory_in_use"


def test_a_strangers_certificate_is_refused(context, nodes, tmp_path_factory):
    import conftest
    other = conftest.identities.__wrapped__ if hasattr(conftest.identities, "__wrapped__") else None
    if other is None:
        pytest.skip("this pytest hides the function of a fixture")
    tls = context.load_tls(*other(tmp_path_factory)("a"))
    with pytest.raises(errors.AistError):
        context.query_node(tls, "127.0.0.1", nodes[0].port).result(20)


def test_dataset_to_both_nodes_and_read_by_children(context, nodes, identities, source):
    manifest = context.index_dataset("small", source).result(20)
    assert len(manifest.files) == 30
    tls = context.load_tls(*identities("a"))
    attempt = context.distribute_dataset(tls, {"manifest": manifest.to_dict(), "members": members(nodes)}).result(60)
    read = sum(d.stats.bytes_source for d in attempt.datasets)
    assert read == manifest.size_bytes, "the source is read once for both nodes"
    assert attempt.datasets[0].content_digest == attempt.datasets[1].content_digest
    with aistation.Dataset(attempt.datasets[1].path) as dataset:
        assert len(dataset) == 30 and dataset.size_bytes == manifest.size_bytes
        assert dataset.read("f07") == bytes([7]) * 7000
        children = []
        for part in range(3):
            pid = os.fork()
            if pid == 0:
                ok = all(dataset.read(f.index) == bytes([f.index]) * f.size_bytes
                         for f in dataset if f.index % 3 == part)
                os._exit(0 if ok else 1)
            children.append(pid)
        assert [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in children] == [0, 0, 0]
        with pytest.raises(errors.OutOfRange):
            dataset.stat(30)
        with pytest.raises(errors.NotFound):
            dataset.find("nope")
    assert [d.name for d in nodes[0].datasets().datasets] == ["small"]
    nodes[0].pin_dataset("small")
    assert nodes[0].evict_datasets() == 0
    nodes[0].pin_dataset("small", False)
    assert nodes[0].evict_datasets() == manifest.size_bytes
    with pytest.raises(errors.NotFound):
        aistation.Dataset(attempt.datasets[0].path)


def test_images_of_an_empty_node(nodes):
    assert nodes[0].images().images == []
    with pytest.raises(errors.NotFound):
        nodes[0].pin_image("127.0.0.1:1/x:1")
    with pytest.raises(errors.AistError):
        nodes[0].pull_image(reference="127.0.0.1:1/x:1").result(30)
    with pytest.raises(errors.InvalidArgument):
        nodes[0].pull_image(reference="not a reference").result(30)


def test_await_several(context, nodes, identities):
    tls = context.load_tls(*identities("a"))

    async def main():
        first = context.query_node(tls, "127.0.0.1", nodes[0].port)
        second = context.query_node(tls, "127.0.0.1", nodes[1].port)
        a, b, again = await asyncio.gather(first, second, first)
        return a.name, b.name, again.name

    assert asyncio.run(main()) == ("a", "b", "a")


def test_cancel_an_awaited_operation(context, store, allocator):
    with context.open_job_manager(store, allocator) as manager:
        job = manager.submit(name="long", department="x", command=["/bin/sleep", "60"], resources={"cards": 1})
        op = manager.run(job)

        async def main():
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(op, 1.0)

        began = time.monotonic()
        asyncio.run(main())
        with pytest.raises(errors.Cancelled):
            op.result(15)
        assert time.monotonic() - began < 15
        manager.cancel(job)
        assert manager.get(job).state.name == "CANCELLED"


def test_wait_with_a_timeout_and_close_while_running(context, store, allocator):
    with context.open_job_manager(store, allocator) as manager:
        job = manager.submit(name="long", department="x", command=["/bin/sleep", "60"], resources={"cards": 1})
        op = manager.run(job)
        with pytest.raises(errors.DeadlineExceeded):
            op.wait(0.3)
        assert not op.done() and not op.progress().ended
        op.close()
        with pytest.raises(errors.Closed):
            op.done()


def test_a_job_of_local_processes(context, store, allocator, tmp_path):
    marker = tmp_path / "ran"
    with context.open_job_manager(store, allocator) as manager:
        job = manager.submit(name="two", department="risk", resources={"cards": 2}, backoff_ns=10_000_000,
                             command=["/bin/sh", "-c", "echo $RANK of $WORLD_SIZE >>%s; test $AISTATION_ATTEMPT = 2" % marker])
        ended = manager.run(job).result(60)
        assert ended.state.name == "SUCCEEDED", ended.message
        assert len(ended.attempts) == 2 and ended.attempts[0].verdict.rule == "exit"
        assert sorted(marker.read_text().split("\n"))[-4:] == ["0 of 2", "0 of 2", "1 of 2", "1 of 2"]
        assert [j.id for j in manager.list().jobs] == [job]
        messages = [e.message for e in manager.events(job).events]
        assert messages[0] == "submitted"
        with pytest.raises(errors.DeadlineExceeded):
            manager.events(job, after_seq=10_000, timeout=0.05)
        with pytest.raises(errors.NotFound):
            manager.get("job-none")
        with pytest.raises(errors.InvalidArgument) as caught:
            manager.submit(name="bad name!", department="x", command=["x"], resources={"cards": 1})
        assert "name" in str(caught.value)
        assert "<svg" in context.report(store) and "two" in context.report(store, "json")
        assert context.report(store, "csv").startswith("department,")
    assert store.audit_verify().ok
