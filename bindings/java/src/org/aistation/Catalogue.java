// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** Card models that can be recognised. */
public final class Catalogue extends Handle {
  Catalogue(long pointer, Object... keep) {
    super(pointer, Native::catalogueFree, keep);
  }

  public long count() {
    return withLong(Native::catalogueCount);
  }

  public String describe() {
    return with(p -> text(Native.catalogueDescribe(p)));
  }
}
