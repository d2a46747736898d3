# SPDX-License-Identifier: Apache-2.0
"""Events of a context."""
from __future__ import annotations

import json
from typing import Any, Dict, Optional

from ._library import Handle, call_bytes, nanos


class Events(Handle):
    _free = "aist_monitor_events_free"

    def next(self, timeout: Optional[float] = None) -> Dict[str, Any]:
        """DeadlineExceeded when none comes in time."""
        with self._use() as p:
            return json.loads(call_bytes("aist_monitor_events_next", p, nanos(timeout)))
