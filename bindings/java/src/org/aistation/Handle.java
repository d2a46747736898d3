// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;

/**
 * Owns one native handle. close() while another thread is inside a call does not pull the handle from under it: it
 * goes when the last call has returned. Use after close() throws FAILED_PRECONDITION, reason java.closed. A handle
 * that was forgotten is freed by a Cleaner.
 */
public abstract class Handle implements AutoCloseable {
  private static final Cleaner CLEANER = Cleaner.create();
  /** Formats and endless waits of the C interface. */
  static final long JSON = 2;
  static final long FOREVER = -1;

  private static final class State implements Runnable {
    private final LongConsumer free;
    private long pointer;
    private int users;
    private boolean closing;

    State(long pointer, LongConsumer free) {
      this.pointer = pointer;
      this.free = free;
    }

    synchronized long enter(String what) {
      if (closing || pointer == 0) {
        throw AistException.closed(what);
      }
      users++;
      return pointer;
    }

    void leave() {
      release(false);
    }

    @Override
    public void run() {
      release(true);
    }

    private void release(boolean close) {
      long doomed = 0;
      synchronized (this) {
        if (close) {
          closing = true;
        } else {
          users--;
        }
        if (closing && users == 0) {
          doomed = pointer;
          pointer = 0;
        }
      }
      if (doomed != 0) {
        free.accept(doomed);
      }
    }

    synchronized boolean isClosed() {
      return closing;
    }
  }

  private final State state;
  private final Cleaner.Cleanable cleanable;
  private final Object[] keep;

  Handle(long pointer, LongConsumer free, Object... keep) {
    state = new State(pointer, free);
    cleanable = CLEANER.register(this, state);
    this.keep = keep;
  }

  @Override
  public void close() {
    cleanable.clean();
  }

  public boolean isClosed() {
    return state.isClosed();
  }

  /** Runs a call with the handle, which stays alive meanwhile. */
  <T> T with(LongFunction<T> call) {
    long pointer = state.enter(getClass().getSimpleName());
    try {
      return call.apply(pointer);
    } finally {
      state.leave();
      java.lang.ref.Reference.reachabilityFence(this);
    }
  }

  long withLong(LongUnaryOperator call) {
    return this.<Long>with(call::applyAsLong);
  }

  int withInt(LongToIntFunction call) {
    return this.<Integer>with(call::applyAsInt);
  }

  void run(LongConsumer call) {
    this.<Void>with(p -> {
      call.accept(p);
      return null;
    });
  }

  Object[] kept() {
    return keep;
  }

  static byte[] utf8(Object text) {
    return text == null ? null : text.toString().getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** A document: Document, Map, or text that is JSON already. */
  static byte[] json(Object document) {
    return utf8(document instanceof Document d ? d.toJson() : document instanceof Map<?, ?> m ? Json.write(m) : document);
  }

  static long nanos(java.time.Duration timeout) {
    return timeout == null ? FOREVER : Math.max(0, timeout.toNanos());
  }
}
