# SPDX-License-Identifier: Apache-2.0
"""Long operations: waited for, awaited, cancelled."""
from __future__ import annotations

import asyncio
import ctypes
import os
import select
import time
from dataclasses import dataclass
from typing import Any, Callable, Generator, Generic, Optional, TypeVar

from . import _abi, errors
from ._library import JSON, Handle, call, call_bytes, lib

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    done: int
    total: int  # 0 while unknown
    elapsed_ns: int
    phase: str
    ended: bool


class Op(Handle, Generic[T]):
    """A running or ended operation. `result()` waits; `await op` does so without blocking the loop."""
    _free = "aist_op_free"

    def __init__(self, pointer: int, decode: Callable[[bytes], T], *keep: Any) -> None:
        super().__init__(pointer, *keep)
        self._decode = decode

    def done(self) -> bool:
        flag = ctypes.c_uint8()
        with self._use() as pointer:
            call("aist_op_poll", pointer, ctypes.byref(flag))
        return bool(flag.value)

    def progress(self) -> Progress:
        info = _abi.aist_op_progress_info()
        lib.aist_op_progress_info_init(ctypes.byref(info), ctypes.sizeof(info))
        with self._use() as pointer:
            call("aist_op_progress", pointer, ctypes.byref(info))
        return Progress(info.done, info.total, info.elapsed_ns, info.phase.decode("utf-8", "replace"),
                        bool(info.done_flag))

    def cancel(self) -> None:
        with self._use() as pointer:
            call("aist_op_cancel", pointer)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Until it has ended; raises the operation's error. DeadlineExceeded: it still runs. Signals
        (Ctrl-C) are served meanwhile."""
        with self._use() as pointer:
            poller = select.poll()
            poller.register(lib.aist_op_fd(pointer), select.POLLIN)
            end = None if timeout is None else time.monotonic() + timeout
            while not poller.poll(None if end is None else max(0, (end - time.monotonic()) * 1000)):
                if end is not None and time.monotonic() >= end:
                    break
            call("aist_op_wait", pointer, 0)

    def result(self, timeout: Optional[float] = None) -> T:
        self.wait(timeout)
        with self._use() as pointer:
            return self._decode(call_bytes("aist_op_result", pointer, JSON))

    def __await__(self) -> Generator[Any, None, T]:
        return self._wait_async().__await__()

    async def _wait_async(self) -> T:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        # A descriptor of our own: several tasks may await one operation.
        with self._use() as pointer:
            fd = os.dup(lib.aist_op_fd(pointer))
        try:
            def wake() -> None:
                if not ended.done():
                    ended.set_result(None)

            loop.add_reader(fd, wake)
            try:
                await ended
            except asyncio.CancelledError:
                if not self.closed:
                    self.cancel()
                raise
            finally:
                loop.remove_reader(fd)
        finally:
            os.close(fd)
        return self.result(0)


def start(name: str, decode: Callable[[bytes], T], keep: Any, *arguments: Any) -> Op[T]:
    """Calls a function whose last parameters are `aist_op **op, aist_error **err`."""
    pointer = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(pointer))
    assert pointer.value is not None
    return Op(pointer.value, decode, keep)


__all__ = ["Op", "Progress", "errors"]
