// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.aistation.AistException.Code;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every module through the binding. */
class ModulesTest {
  private static final String INVENTORY = "{\"nodes\":[{\"name\":\"n0\",\"cards\":[{\"id\":\"a\"},{\"id\":\"b\"}]},"
      + "{\"name\":\"n1\",\"cards\":[{\"id\":\"c\"},{\"id\":\"d\"}]}],\"quotas\":[{\"department\":\"risk\",\"cards\":3}]}";
  @TempDir Path dir;
  private Context context;
  private Store store;

  @BeforeEach
  void open() {
    context = new Context("test", null, 2);
    store = context.openStore(dir.resolve("s.db"));
  }

  @AfterEach
  void close() {
    store.close();
    context.close();
  }

  private static AistException fails(Code code, org.junit.jupiter.api.function.Executable call) {
    AistException error = assertThrows(AistException.class, call);
    assertEquals(code, error.code(), error.toString());
    return error;
  }

  @Test
  void storeAndAudit() {
    long revision = store.put("a", new byte[] {0, (byte) 0xff});
    assertArrayEquals(new byte[] {0, (byte) 0xff}, store.get("a").value());
    assertEquals(revision, store.get("a").revision());
    assertTrue(store.cas("a", revision, new byte[] {1}) > revision);
    fails(Code.ABORTED, () -> store.cas("a", revision, new byte[] {1}));
    try (Store.Watch watch = store.watch("a", revision)) {
      assertEquals("a", watch.next(Duration.ofSeconds(5)).entry().key());
      fails(Code.DEADLINE_EXCEEDED, () -> watch.next(Duration.ofMillis(10)));
    }
    long lease = store.grantLease(Duration.ofSeconds(60));
    store.put("leased", "x".getBytes(StandardCharsets.UTF_8), lease);
    store.keepAlive(lease);
    store.revokeLease(lease);
    assertEquals(1, store.range("", 10).entries().size());
    store.delete("a", 0);
    assertEquals(1, store.auditAppend("me", "act", "it", Map.of("n", 1)));
    fails(Code.INVALID_ARGUMENT, () -> store.auditAppend("me", "act", "it", "[]"));
    assertTrue(store.auditVerify().ok());
    assertEquals("act", store.auditRead(1, 0).entries().get(0).action());
  }

  @Test
  void machines() throws Exception {
    try (Catalogue catalogue = context.loadCatalogue(null)) {
      assertTrue(catalogue.count() >= 20);
      assertTrue(catalogue.describe().contains("H100"));
      Files.createDirectories(dir.resolve("sys/bus/pci/devices"));
      assertEquals(0, context.discover(dir, catalogue).cards().size());
    }
    assertEquals(0, context.listNics(dir).nics().size());
    fails(Code.NOT_FOUND, () -> context.discover(dir.resolve("none"), null));
    Path xml = Files.writeString(dir.resolve("t.xml"),
        "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:11:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"0\"/></pci>"
            + "<pci busid=\"0000:12:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"1\"/></pci></cpu></system>");
    try (Topology topology = context.loadTopology(xml)) {
      assertEquals(2, topology.describe().cards().size());
      assertEquals(Documents.LinkClass.PHB, topology.distance("0000:11:00.0", "0000:12:00.0").link());
      assertNotNull(topology.chooseNics());
    }
  }

  @Test
  void allocation() {
    try (Allocator allocator = context.openAllocator(store, INVENTORY)) {
      Documents.Placement placement = allocator.allocate(Map.of("cards", 2, "department", "risk", "request_id", "r"));
      assertEquals("r", placement.grantId());
      assertEquals(1, placement.nodes().size());
      assertEquals("quota", allocator.plan(Map.of("cards", 2, "department", "risk")).refusal().constraint());
      assertEquals("alloc.quota", fails(Code.RESOURCE_EXHAUSTED, () -> allocator.allocate(Map.of("cards", 2, "department", "risk"))).reason());
      assertEquals(2, context.rankEnvironment(placement).ranks().size());
      allocator.cordon("n1", "", true, "test");
      assertNotNull(allocator.plan(Map.of("cards", 1)).refusal());
      allocator.cordon("n1", "", false, "");
      allocator.release("r");
      assertEquals(0, allocator.describe().grants().size());
      fails(Code.NOT_FOUND, () -> allocator.release("never"));
      fails(Code.INVALID_ARGUMENT, () -> allocator.plan("{\"card\": 1}"));
    }
  }

  @Test
  void metricsEventsAndVerdicts() {
    context.counterAdd("bank_total", 2, "Things.", "kind=\"a\"");
    context.gaugeSet("bank_level", 1.5, null, null);
    assertTrue(context.prometheus().contains("bank_total{kind=\"a\"} 2"));
    try (Events events = context.subscribe()) {
      fails(Code.DEADLINE_EXCEEDED, () -> events.next(Duration.ofMillis(10)));
    }
    Documents.Verdict verdict = context.classify("{\"lines\":[{\"source\":\"kernel_log\",\"node\":\"n\",\"text\":\"NVRM: Xid (PCI:0000:3b:00): 79, x\"}]}", null);
    assertEquals("nv-off-bus", verdict.rule());
  }

  @Test
  void aJobOfLocalProcesses() throws Exception {
    Path marker = dir.resolve("ran");
    try (Allocator allocator = context.openAllocator(store, INVENTORY); JobManager manager = context.openJobManager(store, allocator, null, null)) {
      String id = manager.submit(Map.of("name", "two", "department", "risk", "resources", Map.of("cards", 2), "backoff_ns", 10_000_000,
          "command", List.of("/bin/sh", "-c", "echo $RANK >>" + marker + "; test $AISTATION_ATTEMPT = 2")));
      Documents.Job job = manager.run(id).future().get(60, TimeUnit.SECONDS);
      assertEquals(Documents.JobState.SUCCEEDED, job.state(), job.message());
      assertEquals(2, job.attempts().size());
      assertEquals(4, Files.readAllLines(marker).size());
      assertEquals(id, manager.list(0).jobs().get(0).id());
      assertEquals("submitted", manager.events(id, 0, Duration.ZERO).events().get(0).message());
      fails(Code.NOT_FOUND, () -> manager.get("none"));
      assertTrue(context.report(store, Context.ReportKind.HTML, "t", null).contains("<svg"));
      assertTrue(context.report(store, Context.ReportKind.CSV, null, id).startsWith("department,"));
      assertTrue(context.report(store, Context.ReportKind.JSON, null, id).contains(id));
    }
  }

  @Test
  void cancelledFuturesCancelTheOperation() throws Exception {
    try (Allocator allocator = context.openAllocator(store, INVENTORY); JobManager manager = context.openJobManager(store, allocator, null, null)) {
      String id = manager.submit(Map.of("name", "long", "department", "x", "command", List.of("/bin/sleep", "60"), "resources", Map.of("cards", 1)));
      Op<Documents.Job> op = manager.run(id);
      fails(Code.DEADLINE_EXCEEDED, () -> op.get(Duration.ofMillis(100)));
      assertFalse(op.isDone());
      assertNotNull(op.progress().phase());
      op.future().cancel(true);
      assertEquals(Code.CANCELLED, fails(Code.CANCELLED, () -> op.get(Duration.ofSeconds(20))).code());
      manager.cancel(id);
      assertEquals(Documents.JobState.CANCELLED, manager.get(id).state());
    }
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    assertEquals(0, process.waitFor(), String.join(" ", command));
  }

  /** ca, cert, key of a name. */
  private String[] identity(String name) throws Exception {
    String ca = dir.resolve("ca.pem").toString();
    String caKey = dir.resolve("ca.key").toString();
    if (!Files.exists(Path.of(ca))) {
      run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=ca",
          "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", caKey, "-out", ca);
    }
    String base = dir.resolve(name).toString();
    Files.writeString(Path.of(base + ".ext"), "subjectAltName=DNS:" + name + ",IP:127.0.0.1\n");
    run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name, "-keyout",
        base + ".key", "-out", base + ".csr");
    run("openssl", "x509", "-req", "-in", base + ".csr", "-CA", ca, "-CAkey", caKey, "-CAcreateserial", "-days", "2", "-extfile", base + ".ext",
        "-out", base + ".pem");
    run("chmod", "600", base + ".key");
    return new String[] {ca, base + ".pem", base + ".key"};
  }

  private Tls load(String name) throws Exception {
    String[] files = identity(name);
    return context.loadTls(files[0], files[1], files[2], List.of());
  }

  @Test
  void nodesDatasetsAndReaders() throws Exception {
    Path source = Files.createDirectory(dir.resolve("source"));
    for (int i = 0; i < 20; i++) {
      Files.write(source.resolve(String.format("f%02d", i)), new byte[1000 * i]);
    }
    try (Tls a = load("a"); Tls b = load("b");
        Node first = context.node("a", dir.resolve("na"), a).inventory(Map.of("name", "a")).mirror("127.0.0.1", 0).start();
        Node second = context.node("b", dir.resolve("nb"), b).inventory("{\"name\":\"b\"}").allowLaunch().start()) {
      assertEquals("a", first.describe().name());
      assertTrue(first.mirrorPort() > 0);
      assertEquals("b", context.queryNode(a, "127.0.0.1", second.port()).get().name());
      a.reload();
      assertTrue(a.describe().containsKey("names"));
      Documents.DatasetManifest manifest = context.indexDataset("small", source).get();
      List<Map<String, Object>> members = new ArrayList<>();
      members.add(Map.of("node", "a", "address", "127.0.0.1", "port", first.port()));
      members.add(Map.of("node", "b", "address", "127.0.0.1", "port", second.port()));
      Documents.Attempt attempt = context.distributeDataset(a, Map.of("manifest", manifest, "members", members)).get();
      long read = attempt.datasets().stream().mapToLong(d -> d.stats().bytesSource()).sum();
      assertEquals(manifest.sizeBytes(), read, "the source is read once for both");
      try (Dataset dataset = Dataset.open(attempt.datasets().get(1).path())) {
        assertEquals(20, dataset.count());
        assertEquals(manifest.sizeBytes(), dataset.sizeBytes());
        assertEquals(7000, dataset.read("f07").length);
        assertEquals("f03", dataset.stat(3).path());
        fails(Code.OUT_OF_RANGE, () -> dataset.stat(20));
        fails(Code.NOT_FOUND, () -> dataset.find("nope"));
        assertThrows(IndexOutOfBoundsException.class, () -> dataset.read(0, 0, new byte[5], 3, 3));
      }
      first.pinDataset("small", true);
      assertEquals(0, first.evictDatasets(0));
      first.pinDataset("small", false);
      assertEquals(manifest.sizeBytes(), first.evictDatasets(0));
      assertEquals(0, first.images().images().size());
      ExecutionException error = assertThrows(ExecutionException.class,
          () -> first.pullImage(Map.of("reference", "not a reference")).future().get(30, TimeUnit.SECONDS));
      assertEquals(Code.INVALID_ARGUMENT, ((AistException) error.getCause()).code());
      assertThrows(CompletionException.class, () -> context.probe(a, "{}").future().join());
    }
  }
}
