#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes inventories of a small cluster: four nodes in two racks, eight cards and eight NICs each.

usage: make_cluster.py OUTPUT_DIRECTORY [NODE=PORT ...]

Writes node11.json … node14.json (NodeInventory, one for each agent) and cluster.json (Inventory with
quotas). Ports are those of the agents, 7400 when not given. The NICs have loopback addresses
127.0.<node>.<n>, so that agents on one machine can prove that they reach one another.
"""
import json
import os
import sys

RACKS = {11: "r1", 12: "r1", 13: "r2", 14: "r2"}
CARD_BUS = ["1b", "43", "52", "61", "9d", "c3", "d1", "df"]
NIC_BUS = ["18", "40", "4f", "5e", "9a", "c0", "ce", "dc"]
QUOTAS = [{"department": "risk", "cards": 24}, {"department": "research", "cards": 8}]


def card(node, i):
    return {"id": "GPU-%d%02d" % (node, i + 1), "vendor": "NVIDIA", "model": "H100 SXM5 80GB",
            "pci_address": "0000:%s:00.0" % CARD_BUS[i], "pci_id": "10de:2330",
            "memory_bytes": 80 << 30, "numa_node": i // 4, "socket": i // 4, "index": i,
            "health": "HEALTH_OK", "device_node": "/dev/nvidia%d" % i, "driver": "nvidia"}


def nic(node, i):
    address = "127.0.%d.%d" % (node, i + 1)
    mapped = "0000:0000:0000:0000:0000:ffff:7f00:%02x%02x" % (node, i + 1)
    netdev = "ens%dnp0" % (i + 1)
    return {"id": "mlx5_%d" % i, "netdev": netdev, "pci_address": "0000:%s:00.0" % NIC_BUS[i],
            "numa_node": i // 4, "socket": i // 4, "speed_mbps": 400000, "port": 1,
            "state": "ACTIVE", "link_layer": "Ethernet", "address": address,
            "health": "HEALTH_OK", "mtu_bytes": 4200,
            "gids": [{"index": 3, "gid": mapped, "type": "RoCE v2", "netdev": netdev,
                      "ipv4": address}]}


def distances(node):
    out = []
    for a in range(8):
        for b in range(a + 1, 8):
            out.append({"a": "GPU-%d%02d" % (node, a + 1), "b": "GPU-%d%02d" % (node, b + 1),
                        "link": "LINK_CLASS_DIRECT", "bandwidth_mbps": 3600000})
        for b in range(8):
            link = "PIX" if a == b else "PHB" if a // 4 == b // 4 else "SYS"
            out.append({"a": "GPU-%d%02d" % (node, a + 1), "b": "mlx5_%d" % b,
                        "link": "LINK_CLASS_" + link, "bandwidth_mbps": 400000})
    return out


def node_inventory(node, port):
    return {"name": "node%d" % node, "address": "127.0.0.%d" % node, "port": port,
            "rack": RACKS[node], "spine": "s1", "health": "HEALTH_OK",
            "cpu_cores": 112, "memory_bytes": 2 << 40,
            "cards": [card(node, i) for i in range(8)], "nics": [nic(node, i) for i in range(8)],
            "numa_nodes": [{"id": n, "socket": n, "memory_bytes": 1 << 40, "cores": 56}
                           for n in range(2)],
            "distances": distances(node)}


def dump(value, indent=0):
    """JSON with one device a line."""
    pad = " " * (indent + 1)
    if isinstance(value, dict) and any(isinstance(v, list) and v and isinstance(v[0], dict)
                                       for v in value.values()):
        items = [pad + json.dumps(k) + ": " + dump(v, indent + 1) for k, v in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(pad + dump(v, indent + 1) for v in value) + "\n" + " " * indent + "]"
    return json.dumps(value)


def write(path, value):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(dump(value) + "\n")
    os.replace(path + ".tmp", path)


def main(argv):
    if len(argv) < 2 or argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(argv) >= 2 else 2
    ports = dict(word.split("=", 1) for word in argv[2:])
    nodes = [node_inventory(n, int(ports.get("node%d" % n, 7400))) for n in sorted(RACKS)]
    os.makedirs(argv[1], exist_ok=True)
    for node in nodes:
        write(os.path.join(argv[1], node["name"] + ".json"), node)
    write(os.path.join(argv[1], "cluster.json"), {"nodes": nodes, "quotas": QUOTAS})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
