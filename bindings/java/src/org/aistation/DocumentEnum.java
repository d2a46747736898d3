// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** An enumeration of the interface; the first value also stands for values that this version does not know. */
public interface DocumentEnum {
  int number();
}
