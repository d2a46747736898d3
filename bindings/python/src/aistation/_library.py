# SPDX-License-Identifier: Apache-2.0
"""The shared library: found, checked, called."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Dict, Optional, Union

from . import _abi, errors

JSON = _abi.AIST_FORMAT_JSON
Text = Union[str, bytes, os.PathLike]
SONAME = "libaistation.so.0.1"


def _load() -> ctypes.CDLL:
    named = os.environ.get("AISTATION_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    path = named or (beside if os.path.exists(beside) else SONAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("cannot load %s: %s; set AISTATION_LIBRARY to the path of libaistation.so"
                          % (path, error)) from None
    _abi.declare(library)
    return library


lib = _load()


def bytes_of(text: Text) -> bytes:
    if isinstance(text, bytes):
        return text
    return os.fspath(text).encode("utf-8") if not isinstance(text, str) else text.encode("utf-8")


def take_error(status: int, pointer: Optional[int]) -> errors.AistError:
    cls = errors.CLASSES.get(status, errors.Unknown)
    if not pointer:
        return cls("no memory for the error", "base.memory")
    cause = lib.aist_error_cause(pointer)
    error = cls(lib.aist_error_message(pointer).decode("utf-8", "replace"),
                lib.aist_error_reason(pointer).decode("utf-8", "replace"),
                bool(lib.aist_error_retryable(pointer)), lib.aist_error_scope(pointer),
                lib.aist_error_errno(pointer),
                lib.aist_error_message(cause).decode("utf-8", "replace") if cause else None)
    lib.aist_error_free(pointer)
    return error


def call(name: str, *arguments: Any) -> None:
    error = ctypes.c_void_p()
    status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if status != 0:
        raise take_error(status, error.value)


def take_bytes(pointer: ctypes.c_void_p) -> bytes:
    try:
        return ctypes.string_at(lib.aist_bytes_data(pointer), lib.aist_bytes_size(pointer))
    finally:
        lib.aist_bytes_free(pointer)


def call_bytes(name: str, *arguments: Any) -> bytes:
    """Calls a function whose last parameters are `aist_bytes **out, aist_error **err`."""
    out = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(out))
    return take_bytes(out)


def pair(text: Optional[Text]) -> tuple:
    """Pointer and length of a text argument."""
    data = b"" if text is None else bytes_of(text)
    return data, len(data)


class Options:
    """A versioned struct whose strings stay alive with it."""

    def __init__(self, struct: str, **fields: Any) -> None:
        cls = getattr(_abi, struct)
        self.value = cls()
        getattr(lib, struct + "_init")(ctypes.byref(self.value), ctypes.sizeof(self.value))
        self._keep = []
        types = dict(cls._fields_)
        for name, value in fields.items():
            if value is None:
                continue
            if types[name] is _abi.aist_str:
                data = bytes_of(value)
                self._keep.append(data)
                setattr(self.value, name, _abi.aist_str(data, len(data)))
            else:
                setattr(self.value, name, value)

    def ref(self) -> Any:
        return ctypes.byref(self.value)


class Handle:
    """Owns one handle of the library.

    close() while another thread is inside a call does not pull the handle from under it: the handle is
    freed when the last call has returned. Use after close() raises errors.Closed.
    """
    _free = ""

    def __init__(self, pointer: int, *keep: Any) -> None:
        self._lock = threading.Lock()
        self._pointer: Optional[int] = pointer
        self._users = 0
        self._closing = False
        self._keep = keep
        self._pid = os.getpid()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self.close()

    @property
    def closed(self) -> bool:
        return self._closing

    def close(self) -> None:
        """Frees the handle; closing twice does nothing."""
        with self._guard():
            self._closing = True
            pointer = self._take_locked()
        self._release(pointer)

    def _guard(self) -> Any:
        # A lock that another thread held at a fork stays locked in the child for ever.
        if os.getpid() != self._pid:
            self._lock, self._users, self._pid = threading.Lock(), 0, os.getpid()
        return self._lock

    def _take_locked(self) -> Optional[int]:
        if not self._closing or self._users:
            return None
        pointer, self._pointer = self._pointer, None
        return pointer

    def _release(self, pointer: Optional[int]) -> None:
        if pointer:
            getattr(lib, self._free)(pointer)

    def _use(self) -> "_Use":
        return _Use(self)


class _Use:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __enter__(self) -> int:
        h = self._handle
        with h._guard():
            if h._closing or h._pointer is None:
                raise errors.Closed("%s is closed" % type(h).__name__, "python.closed")
            h._users += 1
            return h._pointer

    def __exit__(self, *_: Any) -> None:
        h = self._handle
        with h._guard():
            h._users = max(0, h._users - 1)
            pointer = h._take_locked()
        h._release(pointer)


def nanos(seconds: Optional[float]) -> int:
    """Seconds to nanoseconds; None waits for ever."""
    return -1 if seconds is None else max(0, int(seconds * 1e9))


def document_bytes(document: Any) -> bytes:
    """JSON of a document, a dict or a text that is JSON already."""
    import json
    if hasattr(document, "to_json"):
        return document.to_json().encode("utf-8")
    if isinstance(document, (dict, list)):
        return json.dumps(document, ensure_ascii=False).encode("utf-8")
    return bytes_of(document)


def arguments_of(document: Any, cls: Any, fields: Dict[str, Any]) -> bytes:
    """A document given whole, or made of keyword arguments."""
    if document is None:
        document = cls(**fields)
    elif fields:
        raise TypeError("give the document or its fields, not both")
    return document_bytes(document)
