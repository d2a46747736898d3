# SPDX-License-Identifier: Apache-2.0
"""One exception class for each status code."""
from __future__ import annotations

from typing import Dict, Optional, Type


class AistError(Exception):
    """What went wrong. `reason` is stable ("store.revision_mismatch"); the text is for people."""
    code = 2

    def __init__(self, message: str, reason: str = "", retryable: bool = False, scope: int = 1,
                 system_errno: int = 0, cause: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.retryable = retryable
        self.scope = scope
        self.errno = system_errno
        self.cause = cause

    def __str__(self) -> str:
        return "%s (%s)" % (self.message, self.reason) if self.reason else self.message


class Cancelled(AistError):
    code = 1


class Unknown(AistError):
    code = 2


class InvalidArgument(AistError, ValueError):
    code = 3


class DeadlineExceeded(AistError, TimeoutError):
    code = 4


class NotFound(AistError, KeyError):
    code = 5
    __str__ = AistError.__str__


class AlreadyExists(AistError):
    code = 6


class PermissionDenied(AistError):
    code = 7


class ResourceExhausted(AistError):
    code = 8


class FailedPrecondition(AistError):
    code = 9


class Aborted(AistError):
    code = 10


class OutOfRange(AistError, IndexError):
    code = 11


class Unimplemented(AistError):
    code = 12


class Internal(AistError):
    code = 13


class Unavailable(AistError):
    code = 14


class DataLoss(AistError):
    code = 15


class Unauthenticated(AistError):
    code = 16


class Closed(FailedPrecondition):
    """The object was closed before."""


CLASSES: Dict[int, Type[AistError]] = {
    cls.code: cls for cls in (Cancelled, Unknown, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists,
                              PermissionDenied, ResourceExhausted, FailedPrecondition, Aborted, OutOfRange,
                              Unimplemented, Internal, Unavailable, DataLoss, Unauthenticated)}
