# SPDX-License-Identifier: Apache-2.0
"""Who gets which cards."""
from __future__ import annotations

from typing import Any, Optional

from ._library import JSON, Handle, arguments_of, call, call_bytes, pair
from .documents import AllocationState, Placement, PlacementRequest


class Allocator(Handle):
    """plan() and allocate() take a PlacementRequest or its fields as keyword arguments."""
    _free = "aist_alloc_free"

    def plan(self, request: Optional[PlacementRequest] = None, **fields: Any) -> Placement:
        data = arguments_of(request, PlacementRequest, fields)
        with self._use() as p:
            return Placement.from_json(call_bytes("aist_alloc_plan", p, JSON, data, len(data)))

    def allocate(self, request: Optional[PlacementRequest] = None, **fields: Any) -> Placement:
        data = arguments_of(request, PlacementRequest, fields)
        with self._use() as p:
            return Placement.from_json(call_bytes("aist_alloc_allocate", p, JSON, data, len(data)))

    def release(self, grant_id: str) -> None:
        with self._use() as p:
            call("aist_alloc_release", p, *pair(grant_id))

    def cordon(self, node: str, card_id: str = "", on: bool = True, why: str = "") -> None:
        with self._use() as p:
            call("aist_alloc_cordon", p, *pair(node), *pair(card_id), 1 if on else 0, *pair(why))

    def describe(self) -> AllocationState:
        with self._use() as p:
            return AllocationState.from_json(call_bytes("aist_alloc_describe", p, JSON))
