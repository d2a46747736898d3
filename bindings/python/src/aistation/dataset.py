# SPDX-License-Identifier: Apache-2.0
"""Reading of cached datasets: no context, no thread, usable in forked workers."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Iterator, Optional, Union

from . import _abi
from ._library import Handle, Text, call, lib, pair


@dataclass(frozen=True)
class File:
    index: int
    path: str
    size_bytes: int


class Dataset(Handle):
    """`path`: the directory that DatasetResult.path names."""
    _free = "aist_dataset_free"

    def __init__(self, path: Text) -> None:
        out = ctypes.c_void_p()
        call("aist_dataset_open", *pair(path), ctypes.byref(out))
        assert out.value is not None
        super().__init__(out.value)

    def __len__(self) -> int:
        with self._use() as p:
            return lib.aist_dataset_count(p)

    @property
    def size_bytes(self) -> int:
        with self._use() as p:
            return lib.aist_dataset_bytes(p)

    def stat(self, index: int) -> File:
        path, size = _abi.aist_str(), ctypes.c_uint64()
        with self._use() as p:
            call("aist_dataset_stat", p, index, ctypes.byref(path), ctypes.byref(size))
            return File(index, ctypes.string_at(path.data, path.size).decode("utf-8"), size.value)

    def find(self, path: str) -> int:
        index = ctypes.c_uint64()
        with self._use() as p:
            call("aist_dataset_find", p, *pair(path), ctypes.byref(index))
        return index.value

    def read(self, which: Union[int, str], offset: int = 0, size: Optional[int] = None) -> bytes:
        """A file, or a part of it, by index or path."""
        index = self.find(which) if isinstance(which, str) else which
        if size is None:
            size = max(0, self.stat(index).size_bytes - offset)
        buffer, got = ctypes.create_string_buffer(max(size, 1)), ctypes.c_size_t()
        with self._use() as p:
            call("aist_dataset_read", p, index, offset, buffer, size, ctypes.byref(got))
        return buffer.raw[:got.value]

    def __iter__(self) -> Iterator[File]:
        for index in range(len(self)):
            yield self.stat(index)
