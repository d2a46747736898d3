// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.nio.charset.StandardCharsets;

/** What went wrong: a status, a stable reason ("store.no_key"), and a sentence for people. */
public final class AistException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Canonical status codes, by number. */
  public enum Code {
    OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
    RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS,
    UNAUTHENTICATED
  }

  private final Code code;
  private final String reason;
  private final boolean retryable;
  private final int errno;

  AistException(Code code, String reason, String message, boolean retryable, int errno, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.reason = reason;
    this.retryable = retryable;
    this.errno = errno;
  }

  /** Called by the native side. */
  static AistException of(long code, byte[] reason, byte[] message, boolean retryable, long errno, byte[] cause) {
    Code[] codes = Code.values();
    return new AistException(code >= 0 && code < codes.length ? codes[(int) code] : Code.UNKNOWN, text(reason), text(message),
        retryable, (int) errno, cause == null ? null : new RuntimeException(text(cause)));
  }

  static AistException closed(String what) {
    return new AistException(Code.FAILED_PRECONDITION, "java.closed", what + " is closed", false, 0, null);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  public Code code() {
    return code;
  }

  public String reason() {
    return reason;
  }

  /** Whether the same call may succeed later without any change. */
  public boolean retryable() {
    return retryable;
  }

  public int errno() {
    return errno;
  }

  @Override
  public String toString() {
    return code + ": " + getMessage() + (reason.isEmpty() ? "" : " (" + reason + ")");
  }
}
