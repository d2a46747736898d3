# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of documents."""
from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any, ClassVar, Dict, Type, TypeVar

T = TypeVar("T", bound="Document")


def info(shape: str, kind: str, value: str = "") -> Dict[str, str]:
    """What a field holds, kept beside it."""
    return {"shape": shape, "kind": kind, "value": value}


def _read(kind: str, value: Any) -> Any:
    if kind == "bytes":
        return base64.b64decode(value)
    if kind == "float":
        return float(value)
    if kind == "int":
        return int(value)
    if kind in ("str", "bool"):
        return value
    cls = Document.TYPES[kind]
    if issubclass(cls, Document):
        return cls.from_dict(value)
    # An enum: by name, or by number when this version does not know the name.
    if isinstance(value, str):
        name = value[len(cls.prefix()):] if value.startswith(cls.prefix()) else value
        return cls[name] if name in cls.__members__ else cls(0)
    return cls(value) if value in cls._value2member_map_ else cls(0)


def _write(value: Any) -> Any:
    if isinstance(value, Document):
        return value.to_dict()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return value


class Document:
    """Base of all documents."""
    TYPES: ClassVar[Dict[str, Any]] = {}

    @classmethod
    def from_dict(cls: Type[T], data: Dict[str, Any]) -> T:
        out = cls()
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]
            key = f.name.rstrip("_")  # "from" is a word of Python
            if key not in data:
                continue
            shape, kind, value = f.metadata["shape"], f.metadata["kind"], data[key]
            if shape == "list":
                value = [_read(kind, item) for item in value]
            elif shape == "map":
                value = {_read(kind, k): _read(f.metadata["value"], v) for k, v in value.items()}
            elif value is not None:
                value = _read(kind, value)
            setattr(out, f.name, value)
        return out

    @classmethod
    def from_json(cls: Type[T], text: str | bytes) -> T:
        return cls.from_dict(json.loads(text))

    def to_dict(self) -> Dict[str, Any]:
        """Without fields that have their default, so that an older library can read it."""
        out: Dict[str, Any] = {}
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if f.metadata["shape"] == "list":
                value = [_write(item) for item in value]
            elif f.metadata["shape"] == "map":
                value = {str(k): _write(v) for k, v in value.items()}
            else:
                value = _write(value)
            if value not in (None, "", 0, False, [], {}):
                out[f.name.rstrip("_")] = value
        return out

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)
