// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.time.Duration;
import java.util.Map;

/** Events of a context: {seq, unix_ns, module, kind, severity, message, fields}. */
public final class Events extends Handle {
  Events(long pointer, Object... keep) {
    super(pointer, Native::monitorEventsFree, keep);
  }

  public Map<String, Object> next(Duration timeout) {
    return with(p -> Json.object(Json.parse(text(Native.monitorEventsNext(p, nanos(timeout))))));
  }
}
