# SPDX-License-Identifier: Apache-2.0
"""TLS identities."""
from __future__ import annotations

import json
from typing import Any, Dict

from ._library import Handle, call, call_bytes


class Tls(Handle):
    _free = "aist_tls_free"

    def reload(self) -> None:
        """Reads the files again; the old identity stays when the new one is bad."""
        with self._use() as p:
            call("aist_tls_reload", p)

    def describe(self) -> Dict[str, Any]:
        with self._use() as p:
            return json.loads(call_bytes("aist_tls_describe", p))
