// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** One machine. */
public final class Topology extends Handle {
  /** Distance of two devices; 0 Mbit/s: unknown. */
  public record Distance(Documents.LinkClass link, long bandwidthMbps) {}

  Topology(long pointer, Object... keep) {
    super(pointer, Native::topologyFree, keep);
  }

  public Distance distance(String a, String b) {
    return with(p -> {
      long[] n = Native.topologyDistance(p, utf8(a), utf8(b));
      return new Distance(Documents.LinkClass.of(n[0]), n[1]);
    });
  }

  public Documents.NodeInventory describe() {
    return with(p -> Documents.NodeInventory.fromJson(text(Native.topologyDescribe(p, JSON))));
  }

  public Documents.NicChoices chooseNics() {
    return with(p -> Documents.NicChoices.fromJson(text(Native.roceChoose(p, JSON))));
  }
}
