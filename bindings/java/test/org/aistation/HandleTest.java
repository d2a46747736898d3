// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.aistation.AistException.Code;
import org.junit.jupiter.api.Test;

/** Handles: closed twice, used after close, closed during a call, forgotten. */
class HandleTest {
  @Test
  void versionAndFeatures() {
    assertEquals("0.1.0", Context.version());
    assertTrue(Context.hasFeature("sqlite"));
    assertFalse(Context.hasFeature("no such thing"));
    try (Context context = new Context()) {
      assertTrue(context.features().containsKey("tls1.3"));
    }
  }

  @Test
  void useAfterCloseAndDoubleClose() {
    try (Context context = new Context()) {
      Store store = context.openStore(null);
      store.close();
      store.close();
      assertTrue(store.isClosed());
      AistException error = assertThrows(AistException.class, () -> store.get("k"));
      assertEquals("java.closed", error.reason());
      assertEquals(Code.FAILED_PRECONDITION, error.code());
    }
  }

  @Test
  void childrenKeepTheirContext() {
    Context context = new Context();
    Store store = context.openStore(null);
    context.close();
    store.put("k", "v");
    assertEquals("v", store.get("k").text());
    store.close();
  }

  @Test
  void closeDuringACallIsSafe() throws Exception {
    try (Context context = new Context(); Store store = context.openStore(null)) {
      Store.Watch watch = store.watch("x", 0);
      AtomicReference<Object> seen = new AtomicReference<>();
      Thread thread = new Thread(() -> {
        try {
          watch.next(Duration.ofMillis(800));
        } catch (AistException e) {
          seen.set(e.reason());
        }
      });
      thread.start();
      Thread.sleep(200);
      watch.close();
      thread.join(5000);
      assertFalse(thread.isAlive());
      assertEquals("store.no_event", seen.get());
      assertThrows(AistException.class, () -> watch.next(Duration.ZERO));
    }
  }

  @Test
  void manyThreadsAndAClose() throws Exception {
    try (Context context = new Context()) {
      Store store = context.openStore(null);
      List<Throwable> unexpected = new CopyOnWriteArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        String key = "k" + t;
        threads.add(new Thread(() -> {
          try {
            for (int i = 0; i < 100_000; i++) {
              store.put(key, "v" + i);
            }
          } catch (AistException e) {
            if (!e.reason().equals("java.closed")) {
              unexpected.add(e);
            }
          } catch (Throwable e) {
            unexpected.add(e);
          }
        }));
      }
      threads.forEach(Thread::start);
      Thread.sleep(100);
      store.close();
      for (Thread thread : threads) {
        thread.join(20_000);
      }
      assertEquals(List.of(), unexpected);
    }
  }

  @Test
  void forgottenHandlesAreFreed() throws Exception {
    // All other handles of these tests are closed or forgotten, too.
    forget();
    assertTrue(Context.liveObjects() > 0);
    for (int i = 0; i < 200 && Context.liveObjects() > 0; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertEquals(0, Context.liveObjects());
  }

  private static void forget() {
    for (int i = 0; i < 20; i++) {
      new Context().openStore(null).watch("a", 0);
    }
  }

  @Test
  void errorsSayWhat() {
    try (Context context = new Context(); Store store = context.openStore(null)) {
      AistException error = assertThrows(AistException.class, () -> store.get("nothing-here"));
      assertEquals(Code.NOT_FOUND, error.code());
      assertEquals("store.no_key", error.reason());
      assertTrue(error.getMessage().contains("nothing-here"));
      assertTrue(assertThrows(AistException.class, () -> store.cas("k", 5, new byte[0])).retryable());
    }
  }

  @Test
  void logHook() {
    List<String> lines = new CopyOnWriteArrayList<>();
    LogHook hook = (level, module, message) -> {
      lines.add(module + " " + message);
      throw new IllegalStateException("a hook that throws harms nobody");
    };
    try (Context context = new Context("logs", hook, 1); Store store = context.openStore(null);
        Allocator allocator = context.openAllocator(store, "{\"nodes\":[{\"name\":\"a\",\"cards\":[{\"id\":\"c\"}]}]}");
        JobManager manager = context.openJobManager(store, allocator, null, null)) {
      String id = manager.submit(Map.of("name", "j", "department", "d", "command", List.of("/bin/true"), "resources", Map.of("cards", 1)));
      try (Op<Documents.Job> op = manager.run(id)) {
        op.get(Duration.ofSeconds(30));
      }
    }
    assertTrue(lines.stream().anyMatch(line -> line.startsWith("job ")), lines.toString());
  }

  @Test
  void jsonGoesBothWays() {
    Documents.ProbeResult result = Documents.ProbeResult.fromJson("{\"from\": 1, \"to\": 2, \"ok\": true, \"rtt_ns\": \"18446744073709551615\", \"new\": [1, {}]}");
    assertEquals(1, result.from());
    assertEquals(-1L, result.rttNs());
    assertEquals(result, Documents.ProbeResult.fromJson(result.toJson()));
    assertTrue(result.toJson().contains("18446744073709551615"));
    assertEquals(Documents.LinkClass.PIX, Documents.Distance.fromJson("{\"link\":\"LINK_CLASS_PIX\"}").link());
    assertEquals(Documents.LinkClass.UNSPECIFIED, Documents.Distance.fromJson("{\"link\":\"LINK_CLASS_NEW\"}").link());
    assertEquals("a\"\n\u00e9\ud83d\ude00", Json.parse("\"a\\\"\\n\\u00e9\\ud83d\\ude00\""));
    for (String bad : new String[] {"", "{", "[1,]", "{\"a\" 1}", "\"\\x\"", "1 2", "-", "nul", "[".repeat(100_000)}) {
      assertThrows(IllegalArgumentException.class, () -> Json.parse(bad), bad.substring(0, Math.min(20, bad.length())));
    }
    assertNull(Json.parse(" null "));
  }
}
