// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Durable state and the audit log. */
public final class Store extends Handle {
  /** Value of a key and the revision of its last change. */
  public record Entry(byte[] value, long revision) {
    public String text() {
      return new String(value, StandardCharsets.UTF_8);
    }
  }

  /** Changes of keys with a prefix, in order. */
  public static final class Watch extends Handle {
    Watch(long pointer, Object... keep) {
      super(pointer, Native::storeWatchFree, keep);
    }

    /** DEADLINE_EXCEEDED, reason store.no_event, when none comes in time (null: for ever). */
    public Documents.StoreEvent next(Duration timeout) {
      return with(p -> Documents.StoreEvent.fromJson(text(Native.storeWatchNext(p, nanos(timeout), JSON))));
    }
  }

  Store(long pointer, Object... keep) {
    super(pointer, Native::storeFree, keep);
  }

  public Entry get(String key) {
    return with(p -> {
      long[] revision = new long[1];
      return new Entry(Native.storeGet(p, utf8(key), revision), revision[0]);
    });
  }

  public long put(String key, byte[] value) {
    return put(key, value, 0);
  }

  public long put(String key, byte[] value, long lease) {
    return withLong(p -> Native.storePut(p, utf8(key), value, lease));
  }

  public long put(String key, String value) {
    return put(key, utf8(value));
  }

  /** Writes only if the key has revision `expected` (0: does not exist); ABORTED otherwise. */
  public long cas(String key, long expected, byte[] value) {
    return withLong(p -> Native.storeCas(p, utf8(key), expected, value));
  }

  public void delete(String key, long expected) {
    run(p -> Native.storeDelete(p, utf8(key), expected));
  }

  public Documents.StoreRange range(String prefix, int limit) {
    return with(p -> Documents.StoreRange.fromJson(text(Native.storeRange(p, utf8(prefix), limit, JSON))));
  }

  public long grantLease(Duration life) {
    return withLong(p -> Native.storeLeaseGrant(p, life.toNanos()));
  }

  public void keepAlive(long lease) {
    run(p -> Native.storeLeaseKeepAlive(p, lease));
  }

  public void revokeLease(long lease) {
    run(p -> Native.storeLeaseRevoke(p, lease));
  }

  public Watch watch(String prefix, long afterRevision) {
    return with(p -> new Watch(Native.storeWatchCreate(p, utf8(prefix), afterRevision), this));
  }

  /** Number of the entry. `detail`: a Map, JSON text of an object, or null. */
  public long auditAppend(String actor, String action, String object, Object detail) {
    return withLong(p -> Native.auditAppend(p, utf8(actor), utf8(action), utf8(object), json(detail)));
  }

  public Documents.AuditLog auditRead(long first, int limit) {
    return with(p -> Documents.AuditLog.fromJson(text(Native.auditRead(p, first, limit, JSON))));
  }

  public Documents.AuditVerification auditVerify() {
    return with(p -> Documents.AuditVerification.fromJson(text(Native.auditVerify(p, JSON))));
  }
}
