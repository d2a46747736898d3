# SPDX-License-Identifier: Apache-2.0
"""One node of the centre."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from ._library import JSON, Handle, Text, arguments_of, call, call_bytes, document_bytes, lib, pair
from .documents import (DatasetCacheRequest, DatasetList, DatasetResult, ImageList, ImagePullRequest, ImageResult,
                        NodeStatus)
from .op import Op, start


class Node(Handle):
    _free = "aist_node_free"

    @property
    def port(self) -> int:
        with self._use() as p:
            return lib.aist_node_port(p)

    @property
    def mirror_port(self) -> int:
        with self._use() as p:
            return lib.aist_node_mirror_port(p)

    def describe(self) -> NodeStatus:
        with self._use() as p:
            return NodeStatus.from_json(call_bytes("aist_node_describe", p, JSON))

    # Images
    def pull_image(self, request: Optional[ImagePullRequest] = None, **fields: Any) -> Op[ImageResult]:
        data = arguments_of(request, ImagePullRequest, fields)
        with self._use() as p:
            return start("aist_image_pull", ImageResult.from_json, self, p, JSON, data, len(data))

    def images(self) -> ImageList:
        with self._use() as p:
            return ImageList.from_json(call_bytes("aist_image_list", p, JSON))

    def pin_image(self, reference: str, on: bool = True) -> None:
        with self._use() as p:
            call("aist_image_pin", p, *pair(reference), 1 if on else 0)

    def export_image(self, reference: str, directory: Text) -> None:
        with self._use() as p:
            call("aist_image_export", p, *pair(reference), *pair(directory))

    # Datasets
    def cache_dataset(self, request: Any = None, **fields: Any) -> Op[DatasetResult]:
        data = arguments_of(request, DatasetCacheRequest, fields)
        with self._use() as p:
            return start("aist_dataset_cache", DatasetResult.from_json, self, p, JSON, data, len(data))

    def datasets(self) -> DatasetList:
        with self._use() as p:
            return DatasetList.from_json(call_bytes("aist_dataset_list", p, JSON))

    def pin_dataset(self, name: str, on: bool = True) -> None:
        with self._use() as p:
            call("aist_dataset_pin", p, *pair(name), 1 if on else 0)

    def evict_datasets(self, target_bytes: int = 0) -> int:
        """Bytes freed."""
        freed = ctypes.c_uint64()
        with self._use() as p:
            call("aist_dataset_evict", p, target_bytes, ctypes.byref(freed))
        return freed.value


__all__ = ["Node", "document_bytes"]
