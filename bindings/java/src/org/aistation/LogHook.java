// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.nio.charset.StandardCharsets;

/** Receives log records, on any thread. What it throws is dropped. */
@FunctionalInterface
public interface LogHook {
  /** @param level 1 debug, 2 info, 3 warning, 4 error */
  void log(int level, String module, String message);

  /** Called by the native side. */
  static void deliver(LogHook hook, long level, byte[] module, byte[] message) {
    hook.log((int) level, new String(module, StandardCharsets.UTF_8), new String(message, StandardCharsets.UTF_8));
  }
}
