// SPDX-License-Identifier: Apache-2.0
package org.aistation;

import java.util.List;
import java.util.Map;

/** Makes everything else. Objects made from it stay usable when it is closed. */
public final class Context extends Handle {
  /** Kinds of a report. */
  public enum ReportKind {
    HTML, JSON, CSV
  }

  public static String version() {
    return text(Native.versionString());
  }

  public static boolean hasFeature(String name) {
    return Native.feature(utf8(name)) != 0;
  }

  /** Handles of this process that have not been freed. */
  public static long liveObjects() {
    return Native.debugLiveObjects();
  }

  public Context() {
    this("aistation", null, 2);
  }

  /** @param log may be null. @param level least level passed on: 1 debug, 2 info, 3 warning, 4 error */
  public Context(String name, LogHook log, int level) {
    super(Native.contextCreate(utf8(name), log, level, 0, 0), Native::contextFree);
  }

  public Map<String, Object> features() {
    return with(p -> Json.object(Json.parse(text(Native.features(p)))));
  }

  /** SQLite in a file, or in memory when `path` is null. */
  public Store openStore(Object path) {
    return with(p -> new Store(Native.storeOpen(p, 0, 0, utf8(path)), this));
  }

  public Tls loadTls(Object ca, Object cert, Object key, List<String> allowedPeers) {
    return with(p -> new Tls(Native.tlsLoad(p, 0, utf8(ca), utf8(cert), utf8(key), utf8(String.join(",", allowedPeers))), this));
  }

  /** `path` null: the catalogue inside the library. */
  public Catalogue loadCatalogue(Object path) {
    return with(p -> new Catalogue(Native.catalogueLoad(p, utf8(path)), this));
  }

  /** This machine, or the one below `root`. `catalogue` may be null. */
  public Documents.NodeInventory discover(Object root, Catalogue catalogue) {
    if (catalogue == null) {
      return with(p -> Documents.NodeInventory.fromJson(text(Native.accelDiscover(p, 0, utf8(root), 0, JSON))));
    }
    return with(p -> catalogue.with(
        c -> Documents.NodeInventory.fromJson(text(Native.accelDiscover(p, 0, utf8(root), c, JSON)))));
  }

  /** `path` null: this machine. The kind of the file is guessed. */
  public Topology loadTopology(Object path) {
    return with(p -> new Topology(Native.topologyLoad(p, 0, 0, utf8(path)), this));
  }

  public Documents.NicList listNics(Object root) {
    return with(p -> Documents.NicList.fromJson(text(Native.roceList(p, utf8(root), JSON))));
  }

  public Documents.JobEnvironment rankEnvironment(Object placement) {
    return with(p -> Documents.JobEnvironment.fromJson(text(Native.roceEnvironment(p, JSON, json(placement)))));
  }

  public Op<Documents.ProbeMatrix> probe(Tls tls, Object request) {
    return with(p -> tls.with(
        t -> new Op<>(Native.roceProbe(p, t, JSON, json(request)), Documents.ProbeMatrix::fromJson, this, tls)));
  }

  /** `inventory` null: the one in the store. */
  public Allocator openAllocator(Store store, Object inventory) {
    return with(p -> store.with(s -> new Allocator(Native.allocOpen(p, s, JSON, json(inventory)), this, store)));
  }

  public Op<Documents.NodeStatus> queryNode(Tls tls, String address, int port) {
    return with(p -> tls.with(
        t -> new Op<>(Native.nodeQuery(p, t, utf8(address), port), Documents.NodeStatus::fromJson, this, tls)));
  }

  public Op<Documents.Attempt> distributeImage(Tls tls, Object request) {
    return with(p -> tls.with(
        t -> new Op<>(Native.imageDistribute(p, t, JSON, json(request)), Documents.Attempt::fromJson, this, tls)));
  }

  public Op<Documents.DatasetManifest> indexDataset(String name, Object source) {
    return with(p -> new Op<>(Native.datasetIndex(p, 0, utf8(name), utf8(source), 0, 0, null),
        Documents.DatasetManifest::fromJson, this));
  }

  public Op<Documents.Attempt> distributeDataset(Tls tls, Object request) {
    return with(p -> tls.with(
        t -> new Op<>(Native.datasetDistribute(p, t, JSON, json(request)), Documents.Attempt::fromJson, this, tls)));
  }

  /** `tls` null: jobs run as processes of this machine. `rules` null: the rules inside the library. */
  public JobManager openJobManager(Store store, Allocator allocator, Tls tls, Object rules) {
    return with(p -> store.with(s -> allocator.with(a -> tls == null
        ? new JobManager(Native.jobManagerCreate(p, 0, s, a, 0, utf8(rules)), this, store, allocator)
        : tls.with(t -> new JobManager(Native.jobManagerCreate(p, 0, s, a, t, utf8(rules)), this, store, allocator, tls)))));
  }

  public Documents.Verdict classify(Object request, Object rules) {
    return with(p -> Documents.Verdict.fromJson(text(Native.jobClassify(p, utf8(rules), JSON, json(request)))));
  }

  /** `job` null: all jobs. */
  public String report(Store store, ReportKind kind, String title, String job) {
    return with(p -> store.with(
        s -> text(Native.reportBuild(p, s, 0, kind.ordinal() + 1, 0, 0, utf8(title), utf8(job)))));
  }

  public String prometheus() {
    return with(p -> text(Native.monitorPrometheus(p)));
  }

  /** `labels`: key="value",… in Prometheus syntax, or null. */
  public void counterAdd(String name, double value, String help, String labels) {
    run(p -> Native.monitorCounterAdd(p, utf8(name), utf8(help), utf8(labels), value));
  }

  public void gaugeSet(String name, double value, String help, String labels) {
    run(p -> Native.monitorGaugeSet(p, utf8(name), utf8(help), utf8(labels), value));
  }

  public Events subscribe() {
    return with(p -> new Events(Native.monitorSubscribe(p), this));
  }

  /** Options of a node; see aist_node_opts. Rates in Mbit/s; 0 is the default everywhere. */
  public NodeBuilder node(String name, Object dataDirectory, Tls tls) {
    return new NodeBuilder(this, name, dataDirectory, tls);
  }
}
