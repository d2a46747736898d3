// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.nio.file.Path;

/** Finds libaistation_jni.so: system property org.aistation.library, AISTATION_JNI, then java.library.path. */
final class NativeLoader {
  private NativeLoader() {}

  static void load() {
    String named = System.getProperty("org.aistation.library", System.getenv("AISTATION_JNI"));
    if (named != null) {
      System.load(Path.of(named).toAbsolutePath().toString());
    } else {
      System.loadLibrary("aistation_jni");
    }
  }
}
