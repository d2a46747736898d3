// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.util.Map;

/** A document of the interface; see include/aistation/v1. */
public interface Document {
  Map<String, Object> toMap();

  default String toJson() {
    return Json.write(toMap());
  }
}
