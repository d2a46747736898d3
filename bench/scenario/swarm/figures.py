#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of the swarm bench and writes its figures.

usage: figures.py JSON_FILE|"" NODES MIB MBIT CHUNK_MIB SIZE SINGLE DIRECT TORRENT OURS ORIGIN_BYTES
"""
import json
import math
import sys


def main():
    path = sys.argv[1]
    nodes, mib, mbit, chunk, size = (int(x) for x in sys.argv[2:7])
    single, direct, torrent, ours, origin = (float(x) for x in sys.argv[7:12])
    rate = mbit * 1e6 / 8
    t_min = size / rate + math.ceil(math.log2(nodes)) * (chunk << 20) / rate
    figures = {
        "nodes": nodes, "mib": mib, "mbit": mbit, "single_seconds": single, "direct_seconds": direct,
        "torrent_seconds": torrent, "ours_seconds": ours, "t_min_seconds": round(t_min, 3),
        "fraction": round(t_min / ours, 3) if ours else 0, "origin_factor": round(origin / size, 3)}
    print("%d nodes, image of %d MiB, links of %d Mbit/s" % (nodes, mib, mbit))
    for name, seconds in (("t_min", t_min), ("single", single), ("ours", ours), ("torrent", torrent), ("direct", direct)):
        if seconds:
            print("  %-8s %8.2f s   t_min is %5.1f %% of it" % (name, seconds, 100 * t_min / seconds))
    if ours:
        print("  registry sent %.3f times the image in our run" % (origin / size))
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
            file.write("\n")


main()
