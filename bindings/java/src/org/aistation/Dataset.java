// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** A cached dataset, open for reading; needs no Context. */
public final class Dataset extends Handle {
  /** One file of it. */
  public record File(long index, String path, long sizeBytes) {}

  /** `path`: the directory that DatasetResult.path names. */
  public static Dataset open(Object path) {
    return new Dataset(Native.datasetOpen(utf8(path)));
  }

  private Dataset(long pointer) {
    super(pointer, Native::datasetFree);
  }

  public long count() {
    return withLong(Native::datasetCount);
  }

  public long sizeBytes() {
    return withLong(Native::datasetBytes);
  }

  public File stat(long index) {
    return with(p -> {
      Object[] pair = Native.datasetStat(p, index);
      return new File(index, text((byte[]) pair[1]), ((long[]) pair[0])[0]);
    });
  }

  public long find(String path) {
    return withLong(p -> Native.datasetFind(p, utf8(path)));
  }

  /** Bytes read into `buffer` from `from` on; fewer than `size` only at the end of the file. */
  public int read(long index, long offset, byte[] buffer, int from, int size) {
    if (from < 0 || size < 0 || from > buffer.length - size) {
      throw new IndexOutOfBoundsException("from " + from + ", size " + size + " of " + buffer.length);
    }
    return (int) withLong(p -> Native.datasetRead(p, index, offset, buffer, from, size));
  }

  public byte[] read(String path) {
    File file = stat(find(path));
    byte[] out = new byte[Math.toIntExact(file.sizeBytes())];
    read(file.index(), 0, out, 0, out.length);
    return out;
  }
}
