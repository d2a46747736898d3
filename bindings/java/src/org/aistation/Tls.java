// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.util.Map;

/** A TLS identity from files. */
public final class Tls extends Handle {
  Tls(long pointer, Object... keep) {
    super(pointer, Native::tlsFree, keep);
  }

  /** Reads the files again; the old identity stays when the new one is bad. */
  public void reload() {
    run(Native::tlsReload);
  }

  public Map<String, Object> describe() {
    return with(p -> Json.object(Json.parse(text(Native.tlsDescribe(p)))));
  }
}
