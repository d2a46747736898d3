// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** Options of a node on the way to start(). */
public final class NodeBuilder {
  private static final long ALLOW_LAUNCH = 1;
  private final Context context;
  private final String name;
  private final Object directory;
  private final Tls tls;
  private long flags;
  private String listen = "127.0.0.1";
  private int port;
  private String mirror;
  private int mirrorPort;
  private Object kernelLog;
  private Object registries;
  private Object inventory;
  private long storeLimitBytes;
  private long sourceRateMbps;
  private long peerRateMbps;
  private long chunkBytes;

  NodeBuilder(Context context, String name, Object directory, Tls tls) {
    this.context = context;
    this.name = name;
    this.directory = directory;
    this.tls = tls;
  }

  public NodeBuilder listen(String address, int onPort) {
    listen = address;
    port = onPort;
    return this;
  }

  /** Plain HTTP mirror for the container runtime, on loopback. */
  public NodeBuilder mirror(String address, int onPort) {
    mirror = address;
    mirrorPort = onPort;
    return this;
  }

  public NodeBuilder kernelLog(Object path) {
    kernelLog = path;
    return this;
  }

  /** JSON or Map: per registry ca_file, plain_http, username, password_file. */
  public NodeBuilder registries(Object config) {
    registries = config;
    return this;
  }

  /** NodeInventory, Map or JSON; without it the machine is discovered. */
  public NodeBuilder inventory(Object document) {
    inventory = document;
    return this;
  }

  public NodeBuilder allowLaunch() {
    flags |= ALLOW_LAUNCH;
    return this;
  }

  public NodeBuilder storeLimitBytes(long bytes) {
    storeLimitBytes = bytes;
    return this;
  }

  public NodeBuilder rates(long sourceMbps, long peerMbps) {
    sourceRateMbps = sourceMbps;
    peerRateMbps = peerMbps;
    return this;
  }

  public NodeBuilder chunkBytes(long bytes) {
    chunkBytes = bytes;
    return this;
  }

  public Node start() {
    return context.with(p -> tls.with(t -> new Node(
        Native.nodeStart(p, flags, Handle.utf8(name), Handle.utf8(directory), Handle.utf8(listen), t, Handle.utf8(mirror),
            Handle.utf8(kernelLog), Handle.json(registries), Handle.json(inventory), storeLimitBytes, sourceRateMbps,
            peerRateMbps, chunkBytes, port, mirrorPort),
        context, tls)));
  }
}
