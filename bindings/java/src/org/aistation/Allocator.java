// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** Who gets which cards. Requests: PlacementRequest, Map or JSON. */
public final class Allocator extends Handle {
  Allocator(long pointer, Object... keep) {
    super(pointer, Native::allocFree, keep);
  }

  public Documents.Placement plan(Object request) {
    return with(p -> Documents.Placement.fromJson(text(Native.allocPlan(p, JSON, json(request)))));
  }

  public Documents.Placement allocate(Object request) {
    return with(p -> Documents.Placement.fromJson(text(Native.allocAllocate(p, JSON, json(request)))));
  }

  public void release(String grantId) {
    run(p -> Native.allocRelease(p, utf8(grantId)));
  }

  /** `cardId` empty: the whole node. */
  public void cordon(String node, String cardId, boolean on, String why) {
    run(p -> Native.allocCordon(p, utf8(node), utf8(cardId), on ? 1 : 0, utf8(why)));
  }

  public Documents.AllocationState describe() {
    return with(p -> Documents.AllocationState.fromJson(text(Native.allocDescribe(p, JSON))));
  }
}
