#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the edges of src/CMakeLists.txt against the layers, and every #include against the edges.

usage: layers.py SRC_DIRECTORY
"""
import os
import re
import sys

LAYER = {"util": 0, "wire": 0, "net": 1, "security": 1, "store": 1, "monitor": 1, "accel": 2, "topology": 2,
         "transfer": 2, "roce": 3, "image": 3, "dataset": 3, "alloc": 4, "job": 5, "report": 6, "api": 7}
# Edges inside one layer; docs/adr/0006 says why.
SAME_LAYER = {("wire", "util"), ("net", "security"), ("net", "monitor"), ("store", "security"), ("accel", "topology")}


def edges(source):
    with open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8") as file:
        text = file.read()
    return {name: set(re.findall(r"\baist_(\w+)", rest)) - {"proto"}
            for name, rest in re.findall(r"aist_module\((\w+)([^)]*)\)", text)}


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += graph.get(name, ())
    return seen


def includes(directory):
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            if name.endswith((".h", ".cc")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                        if match:
                            yield path, number, match.group(1)


def main():
    source = sys.argv[1]
    graph, failed = edges(source), False
    folders = sorted(d for d in os.listdir(source) if os.path.isdir(os.path.join(source, d)))
    for name in folders:
        wrong = []
        if name not in LAYER or name not in graph:
            wrong.append("has no layer or no target")
        below = reachable(graph, name)
        for other in sorted(graph.get(name, ())):
            up = LAYER.get(other, 99) > LAYER.get(name, -1)
            beside = LAYER.get(other) == LAYER.get(name) and (name, other) not in SAME_LAYER
            if up or beside:
                wrong.append("target aist_%s links aist_%s" % (name, other))
        for path, number, header in includes(os.path.join(source, name)):
            top = header.split("/")[0]
            if top == "aistation":
                # The C headers are for api; the generated messages are for everybody.
                fine = name == "api" or header.endswith(".pb.h")
            elif top in ("absl", "google"):
                fine = True
            else:
                fine = top in below or (top == name) or "/" not in header
            if not fine:
                wrong.append('%s:%d includes "%s"' % (path, number, header))
        failed |= bool(wrong)
        print("FAIL %s: %s" % (name, "; ".join(wrong)) if wrong else "ok %s includes only what is below it" % name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
