# SPDX-License-Identifier: Apache-2.0
"""Devices, allocation, documents of placements."""
import json

import pytest

from aistation import documents, errors
from conftest import inventory

NCCL_XML = """<system version="1">
  <cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" vendor="0x1000" device="0xc030" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1"/>
      </pci>
      <pci busid="0000:12:00.0" class="0x020000" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1" maxconn="131072" gdr="1"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
"""


def test_catalogue(context, tmp_path):
    with context.load_catalogue() as catalogue:
        assert len(catalogue) >= 20
        assert len(catalogue.describe()["models"]) == len(catalogue)
    bad = tmp_path / "bad.jsonc"
    bad.write_text('{"models": [{"vendor": 5}]}')
    with pytest.raises(errors.InvalidArgument) as caught:
        context.load_catalogue(bad)
    assert "models[0].vendor" in str(caught.value)


def test_topology_from_a_file(context, tmp_path):
    path = tmp_path / "topo.xml"
    path.write_text(NCCL_XML)
    with context.load_topology(path) as topology:
        node = topology.describe()
        assert len(node.cards) == 1 and node.cards[0].pci_id == "10de:2330"
        distance = topology.distance(node.cards[0].id, "mlx5_0")
        assert distance.link is documents.LinkClass.PIX
        with pytest.raises(errors.NotFound):
            topology.distance("x", "y")


def test_discover_takes_a_root(context, tmp_path):
    with pytest.raises(errors.NotFound):
        context.discover(tmp_path)
    (tmp_path / "sys" / "bus" / "pci" / "devices").mkdir(parents=True)
    assert context.discover(tmp_path).cards == []
    assert context.list_nics(tmp_path).nics == []


def test_allocate_release_quota(allocator):
    placement = allocator.allocate(cards=4, department="risk", request_id="r1")
    assert placement.grant_id and len(placement.nodes) == 1
    assert allocator.allocate(cards=4, department="risk", request_id="r1").grant_id == placement.grant_id
    refusal = allocator.plan(cards=4, department="risk").refusal
    assert refusal.constraint == "quota" and "6" in refusal.sentence
    with pytest.raises(errors.ResourceExhausted) as caught:
        allocator.allocate(cards=4, department="risk")
    assert caught.value.reason == "alloc.quota"
    allocator.release(placement.grant_id)
    allocator.release(placement.grant_id)
    assert allocator.describe().grants == []
    with pytest.raises(errors.NotFound):
        allocator.release("never")


def test_cordon(allocator):
    allocator.cordon("n0", why="test")
    assert [n.node for n in allocator.plan(cards=4).nodes] == ["n1"]
    allocator.cordon("n0", on=False)
    allocator.cordon("n1", "n1-c0")
    assert allocator.plan(cards=8).refusal is not None
    with pytest.raises(errors.NotFound):
        allocator.cordon("nowhere")


def test_bad_inventory_names_the_field(context, store):
    bad = inventory()
    bad["nodes"][1]["cards"][2]["id"] = "n0-c0"
    with pytest.raises(errors.AlreadyExists) as caught:
        context.open_allocator(store, bad)
    assert "nodes[1].cards[2].id" in str(caught.value)
    with pytest.raises(errors.InvalidArgument) as caught:
        context.open_allocator(store, json.dumps({"nodes": [{"nam": "x"}]}))
    assert "nam" in str(caught.value)


def test_environment(context, allocator):
    environment = context.rank_environment(allocator.plan(cards=2))
    assert len(environment.ranks) == 2


def test_classify(context):
    verdict = context.classify(lines=[documents.LogLine(source="kernel_log", node="n1", rank=-1,
                               text="NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.")])
    assert verdict.rule == "nv-off-bus" and verdict.node == "n1" and verdict.evidence[0].line.startswith("NVRM")


def test_metrics_and_events(context):
    context.counter_add("bank_things_total", 2, "Things.", 'kind="a"')
    context.gauge_set("bank_level", 1.5)
    text = context.prometheus()
    assert 'bank_things_total{kind="a"} 2' in text and "bank_level 1.5" in text
    with pytest.raises(errors.InvalidArgument):
        context.counter_add("bad name")
    with context.subscribe() as events, pytest.raises(errors.DeadlineExceeded):
        events.next(0.02)
