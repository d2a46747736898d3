// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** A running or ended operation. */
public final class Op<T> extends Handle {
  /** How far it is; total is 0 while unknown. */
  public record Progress(long done, long total, long elapsedNs, String phase, boolean ended) {}

  // Threads that wait in native code; daemons, so that they never keep the process.
  private static final ExecutorService WAITERS = Executors.newCachedThreadPool(work -> {
    Thread thread = new Thread(work, "aistation-op");
    thread.setDaemon(true);
    return thread;
  });
  private static final long SLICE_NS = 500_000_000;

  private final Function<String, T> decode;

  Op(long pointer, Function<String, T> decode, Object... keep) {
    super(pointer, Native::opFree, keep);
    this.decode = decode;
  }

  public boolean isDone() {
    return withLong(Native::opPoll) != 0;
  }

  public void cancel() {
    run(Native::opCancel);
  }

  public Progress progress() {
    return with(p -> {
      Object[] pair = Native.opProgress(p);
      long[] n = (long[]) pair[0];
      return new Progress(n[0], n[1], n[2], text((byte[]) pair[1]), n[3] != 0);
    });
  }

  /** Waits for the result. */
  public T get() {
    return get(null);
  }

  /** Waits at most so long (null: for ever); DEADLINE_EXCEEDED, reason op.wait_timeout: it still runs. */
  public T get(Duration timeout) {
    return with(p -> {
      Native.opWait(p, nanos(timeout));
      return decode.apply(text(Native.opResult(p, JSON)));
    });
  }

  /** Completes with the result; cancelling the future cancels the operation. */
  public CompletableFuture<T> future() {
    CompletableFuture<T> future = new CompletableFuture<>();
    future.whenComplete((value, error) -> {
      if (future.isCancelled() && !isClosed()) {
        cancel();
      }
    });
    WAITERS.execute(() -> await(future));
    return future;
  }

  private void await(CompletableFuture<T> future) {
    // In slices, so that a close() of the operation is not held up for ever.
    while (!future.isDone()) {
      try {
        future.complete(get(Duration.ofNanos(SLICE_NS)));
      } catch (AistException error) {
        if (!error.reason().equals("op.wait_timeout")) {
          future.completeExceptionally(error);
        }
      } catch (RuntimeException error) {
        future.completeExceptionally(error);
      }
    }
  }
}
