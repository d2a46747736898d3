# SPDX-License-Identifier: Apache-2.0
"""Durable state and the audit log."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, Iterator, Optional, Tuple

from ._library import JSON, Handle, Text, call, call_bytes, nanos, pair, take_bytes
from .documents import AuditLog, AuditVerification, StoreEvent, StoreRange
from .errors import DeadlineExceeded


class Watch(Handle):
    """Changes of keys with a prefix, in order. Iterate, or take them one by one."""
    _free = "aist_store_watch_free"

    def next(self, timeout: Optional[float] = None) -> StoreEvent:
        with self._use() as p:
            return StoreEvent.from_json(call_bytes("aist_store_watch_next", p, nanos(timeout), JSON))

    def __iter__(self) -> Iterator[StoreEvent]:
        while not self.closed:
            try:
                # Not for ever, so that Ctrl-C and close() are served.
                event = self.next(0.5)
            except DeadlineExceeded:
                continue
            yield event


class Lease:
    def __init__(self, store: "Store", number: int) -> None:
        self.store = store
        self.number = number

    def keep_alive(self) -> None:
        with self.store._use() as p:
            call("aist_store_lease_keep_alive", p, self.number)

    def revoke(self) -> None:
        with self.store._use() as p:
            call("aist_store_lease_revoke", p, self.number)


class Store(Handle):
    _free = "aist_store_free"

    def get(self, key: Text) -> Tuple[bytes, int]:
        """Value and revision. NotFound when there is no such key."""
        value, revision = ctypes.c_void_p(), ctypes.c_int64()
        with self._use() as p:
            call("aist_store_get", p, *pair(key), ctypes.byref(value), ctypes.byref(revision))
        return take_bytes(value), revision.value

    def put(self, key: Text, value: Text, lease: Optional[Lease] = None) -> int:
        revision = ctypes.c_int64()
        with self._use() as p:
            call("aist_store_put", p, *pair(key), *pair(value), lease.number if lease else 0, ctypes.byref(revision))
        return revision.value

    def cas(self, key: Text, expected: int, value: Text) -> int:
        """Writes only if the key has revision `expected` (0: does not exist). Aborted otherwise."""
        revision = ctypes.c_int64()
        with self._use() as p:
            call("aist_store_cas", p, *pair(key), expected, *pair(value), ctypes.byref(revision))
        return revision.value

    def delete(self, key: Text, expected: int = 0) -> None:
        with self._use() as p:
            call("aist_store_delete", p, *pair(key), expected)

    def range(self, prefix: Text = b"", limit: int = 0) -> StoreRange:
        with self._use() as p:
            return StoreRange.from_json(call_bytes("aist_store_range", p, *pair(prefix), limit, JSON))

    def lease(self, seconds: float) -> Lease:
        number = ctypes.c_int64()
        with self._use() as p:
            call("aist_store_lease_grant", p, int(seconds * 1e9), ctypes.byref(number))
        return Lease(self, number.value)

    def watch(self, prefix: Text = b"", after_revision: int = 0) -> Watch:
        out = ctypes.c_void_p()
        with self._use() as p:
            call("aist_store_watch_create", p, *pair(prefix), after_revision, ctypes.byref(out))
        assert out.value is not None
        return Watch(out.value, self)

    def audit_append(self, actor: str, action: str, obj: str = "", detail: Optional[Dict[str, Any]] = None) -> int:
        seq = ctypes.c_uint64()
        text = json.dumps(detail) if detail is not None else ""
        with self._use() as p:
            call("aist_audit_append", p, *pair(actor), *pair(action), *pair(obj), *pair(text), ctypes.byref(seq))
        return seq.value

    def audit_read(self, first: int = 1, limit: int = 0) -> AuditLog:
        with self._use() as p:
            return AuditLog.from_json(call_bytes("aist_audit_read", p, first, limit, JSON))

    def audit_verify(self) -> AuditVerification:
        with self._use() as p:
            return AuditVerification.from_json(call_bytes("aist_audit_verify", p, JSON))
