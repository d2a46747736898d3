# SPDX-License-Identifier: Apache-2.0
"""Jobs: placed, proven, staged, run, judged, run again without the culprit."""
from __future__ import annotations

from typing import Any, Optional

from ._library import JSON, Handle, arguments_of, call, call_bytes, nanos, pair
from .documents import Job, JobEventList, JobList, JobSpec
from .op import Op, start


class JobManager(Handle):
    _free = "aist_job_manager_free"

    def submit(self, spec: Any = None, **fields: Any) -> str:
        """Accepts a job, durably. Returns its id."""
        data = arguments_of(spec, JobSpec, fields)
        with self._use() as p:
            return call_bytes("aist_job_submit", p, JSON, data, len(data)).decode("utf-8")

    def run(self, job_id: str) -> Op[Job]:
        """Drives a job to its end. A job that fails is a result, not an error."""
        with self._use() as p:
            return start("aist_job_run", Job.from_json, self, p, *pair(job_id))

    def cancel(self, job_id: str) -> None:
        with self._use() as p:
            call("aist_job_cancel", p, *pair(job_id))

    def get(self, job_id: str) -> Job:
        with self._use() as p:
            return Job.from_json(call_bytes("aist_job_get", p, *pair(job_id), JSON))

    def list(self, limit: int = 0) -> JobList:
        with self._use() as p:
            return JobList.from_json(call_bytes("aist_job_list", p, limit, JSON))

    def events(self, job_id: str = "", after_seq: int = 0, timeout: Optional[float] = 0) -> JobEventList:
        """DeadlineExceeded when none comes in time."""
        with self._use() as p:
            return JobEventList.from_json(call_bytes("aist_job_events", p, *pair(job_id), after_seq,
                                                     nanos(timeout), JSON))
