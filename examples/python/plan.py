#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same as ../c/plan.c in Python.

usage: plan.py examples/data/cluster.json
AISTATION_LIBRARY names libaistation.so, PYTHONPATH holds bindings/python/src.
"""
import json
import sys

import aistation


def main(argv):
    if len(argv) != 2:
        print("usage: plan.py INVENTORY.json", file=sys.stderr)
        return 2
    with open(argv[1], encoding="utf-8") as file:
        inventory = json.load(file)
    with aistation.Context() as context, context.open_store() as store:
        machine = context.discover()
        print("this machine: %d cards, %d NICs" % (len(machine.cards), len(machine.nics)))
        with context.open_allocator(store, inventory) as allocator:
            placement = allocator.plan(cards=16, need_nics=True, department="risk")
            for line in placement.explanation:
                print(line)
            for node in placement.nodes:
                print(node.node, [card.card_id for card in node.cards])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
