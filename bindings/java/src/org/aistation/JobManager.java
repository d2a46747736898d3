// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.time.Duration;

/** Jobs: placed, proven, staged, run, judged, run again without the culprit. */
public final class JobManager extends Handle {
  JobManager(long pointer, Object... keep) {
    super(pointer, Native::jobManagerFree, keep);
  }

  /** Accepts a job, durably; its id. */
  public String submit(Object spec) {
    return with(p -> text(Native.jobSubmit(p, JSON, json(spec))));
  }

  /** Drives a job to its end. A job that fails is a result, not an error. */
  public Op<Documents.Job> run(String id) {
    return with(p -> new Op<>(Native.jobRun(p, utf8(id)), Documents.Job::fromJson, this));
  }

  public void cancel(String id) {
    run(p -> Native.jobCancel(p, utf8(id)));
  }

  public Documents.Job get(String id) {
    return with(p -> Documents.Job.fromJson(text(Native.jobGet(p, utf8(id), JSON))));
  }

  public Documents.JobList list(int limit) {
    return with(p -> Documents.JobList.fromJson(text(Native.jobList(p, limit, JSON))));
  }

  /** Events after a number, of one job or ("") of all; waits for one at most so long. */
  public Documents.JobEventList events(String id, long afterSeq, Duration timeout) {
    return with(p -> Documents.JobEventList.fromJson(text(Native.jobEvents(p, utf8(id), afterSeq, nanos(timeout), JSON))));
  }
}
