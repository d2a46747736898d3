# SPDX-License-Identifier: Apache-2.0
"""Card models and one machine's topology."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Dict

from . import _abi
from ._library import JSON, Handle, call, call_bytes, lib, pair
from .documents import LinkClass, NicChoices, NodeInventory


class Catalogue(Handle):
    _free = "aist_catalogue_free"

    def __len__(self) -> int:
        with self._use() as p:
            return lib.aist_catalogue_count(p)

    def describe(self) -> Dict[str, Any]:
        with self._use() as p:
            return json.loads(call_bytes("aist_catalogue_describe", p))


@dataclass(frozen=True)
class Distance:
    link: LinkClass
    bandwidth_mbps: int  # 0 unknown


class Topology(Handle):
    _free = "aist_topology_free"

    def distance(self, a: str, b: str) -> Distance:
        info = _abi.aist_topology_distance_info()
        lib.aist_topology_distance_info_init(ctypes.byref(info), ctypes.sizeof(info))
        with self._use() as p:
            call("aist_topology_distance", p, *pair(a), *pair(b), ctypes.byref(info))
        return Distance(LinkClass(info.link), info.bandwidth_mbps)

    def describe(self) -> NodeInventory:
        with self._use() as p:
            return NodeInventory.from_json(call_bytes("aist_topology_describe", p, JSON))

    def choose_nics(self) -> NicChoices:
        with self._use() as p:
            return NicChoices.from_json(call_bytes("aist_roce_choose", p, JSON))
