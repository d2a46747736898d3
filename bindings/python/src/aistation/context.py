# SPDX-License-Identifier: Apache-2.0
"""The root of everything."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Callable, Dict, Iterable, Optional

from . import _abi
from ._library import JSON, Handle, Options, Text, arguments_of, call, call_bytes, document_bytes, lib, pair
from .alloc import Allocator
from .devices import Catalogue, Topology
from .documents import (Attempt, ClassifyRequest, DatasetManifest, JobEnvironment, NicList, NodeInventory,
                        NodeStatus, ProbeMatrix, ProbeRequest, Verdict)
from .job import JobManager
from .monitor import Events
from .node import Node
from .op import Op, start
from .security import Tls
from .store import Store

LogHook = Callable[[int, str, str], None]
_LEVELS = {"debug": 1, "info": 2, "warning": 3, "error": 4}
_REPORTS = {"html": 1, "json": 2, "csv": 3}


def version() -> str:
    return lib.aist_version_string().decode()


def feature(name: str) -> bool:
    return bool(lib.aist_feature(*pair(name)))


def live_objects() -> int:
    """Handles of this process that have not been freed."""
    return lib.aist_debug_live_objects()


class Context(Handle):
    """Makes everything else; several contexts of a process are independent."""
    _free = "aist_context_free"

    def __init__(self, name: str = "aistation", log: Optional[LogHook] = None, log_level: str = "info",
                 max_threads: int = 0, default_deadline: float = 0) -> None:
        call("aist_check_version", _abi.AIST_API_VERSION)
        options = Options("aist_context_opts", name=name, max_threads=max_threads,
                          default_deadline_ns=int(default_deadline * 1e9), log_level=_LEVELS[log_level])
        hook = None
        if log is not None:
            receive: LogHook = log

            def pass_on(_user: Any, level: int, module: bytes, message: bytes) -> None:
                receive(level, module.decode("utf-8", "replace"), message.decode("utf-8", "replace"))
            hook = _abi.aist_log_fn(pass_on)
            options.value.log = hook
        pointer = ctypes.c_void_p()
        call("aist_context_create", options.ref(), ctypes.byref(pointer))
        assert pointer.value is not None
        super().__init__(pointer.value, hook)
        self._hook = hook

    def features(self) -> Dict[str, Dict[str, Any]]:
        with self._use() as p:
            return json.loads(call_bytes("aist_features", p))

    def _make(self, name: str, *arguments: Any) -> int:
        out = ctypes.c_void_p()
        with self._use() as p:
            call(name, p, *arguments, ctypes.byref(out))
        assert out.value is not None
        return out.value

    # Durable state
    def open_store(self, path: Optional[Text] = None) -> Store:
        """SQLite in a file, or in memory without a path."""
        options = Options("aist_store_opts", path=path)
        return Store(self._make("aist_store_open", options.ref()), self)

    # Security
    def load_tls(self, ca: Text, cert: Optional[Text] = None, key: Optional[Text] = None,
                 allowed_peers: Iterable[str] = ()) -> Tls:
        options = Options("aist_tls_opts", ca_file=ca, cert_file=cert, key_file=key,
                          allowed_peers=",".join(allowed_peers))
        return Tls(self._make("aist_tls_load", options.ref()), self)

    # Machines
    def load_catalogue(self, path: Optional[Text] = None) -> Catalogue:
        return Catalogue(self._make("aist_catalogue_load", *pair(path)), self)

    def discover(self, root: Optional[Text] = None, catalogue: Optional[Catalogue] = None) -> NodeInventory:
        options = Options("aist_discover_opts", root=root)
        with self._use() as p:
            if catalogue is None:
                return NodeInventory.from_json(call_bytes("aist_accel_discover", p, options.ref(), JSON))
            with catalogue._use() as c:
                options.value.catalogue = c
                return NodeInventory.from_json(call_bytes("aist_accel_discover", p, options.ref(), JSON))

    def load_topology(self, path: Optional[Text] = None, source: int = 0) -> Topology:
        options = Options("aist_topology_opts", path=path, source=source)
        return Topology(self._make("aist_topology_load", options.ref()), self)

    def list_nics(self, root: Optional[Text] = None) -> NicList:
        with self._use() as p:
            return NicList.from_json(call_bytes("aist_roce_list", p, *pair(root), JSON))

    def rank_environment(self, placement: Any) -> JobEnvironment:
        data = document_bytes(placement)
        with self._use() as p:
            return JobEnvironment.from_json(call_bytes("aist_roce_environment", p, JSON, data, len(data)))

    def probe(self, tls: Tls, request: Optional[ProbeRequest] = None, **fields: Any) -> Op[ProbeMatrix]:
        data = arguments_of(request, ProbeRequest, fields)
        with self._use() as p, tls._use() as t:
            return start("aist_roce_probe", ProbeMatrix.from_json, self, p, t, JSON, data, len(data))

    # Allocation
    def open_allocator(self, store: Store, inventory: Any = None) -> Allocator:
        """`inventory`: Inventory, dict or JSON; None takes the one in the store."""
        data = b"" if inventory is None else document_bytes(inventory)
        with store._use() as s:
            return Allocator(self._make("aist_alloc_open", s, JSON, data, len(data)), self, store)

    # Nodes
    def start_node(self, name: str, data_directory: Text, tls: Tls, *, listen: str = "127.0.0.1", port: int = 0,
                   mirror: Optional[str] = None, mirror_port: int = 0, kernel_log: Optional[Text] = None,
                   registry_config: Any = None, inventory: Any = None, allow_launch: bool = False,
                   store_limit_bytes: int = 0, source_rate_mbps: int = 0, peer_rate_mbps: int = 0,
                   chunk_bytes: int = 0) -> Node:
        flags = _abi.AIST_NODE_ALLOW_LAUNCH if allow_launch else 0
        with tls._use() as t:
            options = Options("aist_node_opts", name=name, data_directory=data_directory, listen_address=listen,
                              port=port, mirror_address=mirror, mirror_port=mirror_port, kernel_log=kernel_log,
                              registry_config=None if registry_config is None else document_bytes(registry_config),
                              inventory=None if inventory is None else document_bytes(inventory),
                              tls=t, flags=flags, store_limit_bytes=store_limit_bytes,
                              source_rate_mbps=source_rate_mbps, peer_rate_mbps=peer_rate_mbps,
                              chunk_bytes=chunk_bytes)
            return Node(self._make("aist_node_start", options.ref()), self, tls)

    def query_node(self, tls: Tls, address: str, port: int) -> Op[NodeStatus]:
        with self._use() as p, tls._use() as t:
            return start("aist_node_query", NodeStatus.from_json, self, p, t, *pair(address), port)

    def distribute_image(self, tls: Tls, request: Any) -> Op[Attempt]:
        data = document_bytes(request)
        with self._use() as p, tls._use() as t:
            return start("aist_image_distribute", Attempt.from_json, self, p, t, JSON, data, len(data))

    def index_dataset(self, name: str, source: Text, *, chunk_bytes: int = 0, max_files: int = 0,
                      ca_file: Optional[Text] = None) -> Op[DatasetManifest]:
        options = Options("aist_dataset_index_opts", name=name, source=source, chunk_bytes=chunk_bytes,
                          max_files=max_files, ca_file=ca_file)
        with self._use() as p:
            return start("aist_dataset_index", DatasetManifest.from_json, self, p, options.ref())

    def distribute_dataset(self, tls: Tls, request: Any) -> Op[Attempt]:
        data = document_bytes(request)
        with self._use() as p, tls._use() as t:
            return start("aist_dataset_distribute", Attempt.from_json, self, p, t, JSON, data, len(data))

    # Jobs
    def open_job_manager(self, store: Store, allocator: Allocator, tls: Optional[Tls] = None,
                         rules: Optional[Text] = None) -> JobManager:
        """Without `tls` jobs run as processes of this machine."""
        with store._use() as s, allocator._use() as a:
            options = Options("aist_job_manager_opts", store=s, alloc=a, rules=rules)
            if tls is None:
                return JobManager(self._make("aist_job_manager_create", options.ref()), self, store, allocator)
            with tls._use() as t:
                options.value.tls = t
                return JobManager(self._make("aist_job_manager_create", options.ref()), self, store, allocator, tls)

    def classify(self, request: Optional[ClassifyRequest] = None, *, rules: Optional[Text] = None,
                 **fields: Any) -> Verdict:
        data = arguments_of(request, ClassifyRequest, fields)
        with self._use() as p:
            return Verdict.from_json(call_bytes("aist_job_classify", p, *pair(rules), JSON, data, len(data)))

    # What happened
    def report(self, store: Store, kind: str = "html", *, title: Optional[str] = None, job: Optional[str] = None,
               from_unix_ns: int = 0, to_unix_ns: int = 0) -> str:
        """kind: "html", "json" or "csv"."""
        options = Options("aist_report_opts", kind=_REPORTS[kind], title=title, job=job,
                          from_unix_ns=from_unix_ns, to_unix_ns=to_unix_ns)
        with self._use() as p, store._use() as s:
            return call_bytes("aist_report_build", p, s, options.ref()).decode("utf-8")

    def prometheus(self) -> str:
        with self._use() as p:
            return call_bytes("aist_monitor_prometheus", p).decode("utf-8")

    def counter_add(self, name: str, value: float = 1, help: str = "", labels: str = "") -> None:
        with self._use() as p:
            call("aist_monitor_counter_add", p, *pair(name), *pair(help), *pair(labels), value)

    def gauge_set(self, name: str, value: float, help: str = "", labels: str = "") -> None:
        with self._use() as p:
            call("aist_monitor_gauge_set", p, *pair(name), *pair(help), *pair(labels), value)

    def subscribe(self) -> Events:
        return Events(self._make("aist_monitor_subscribe"), self)
