// SPDX-License-Identifier: Apache-2.0
package org.aistation;

/** One node of the centre. */
public final class Node extends Handle {
  Node(long pointer, Object... keep) {
    super(pointer, Native::nodeFree, keep);
  }

  public int port() {
    return (int) withLong(Native::nodePort);
  }

  public int mirrorPort() {
    return (int) withLong(Native::nodeMirrorPort);
  }

  public Documents.NodeStatus describe() {
    return with(p -> Documents.NodeStatus.fromJson(text(Native.nodeDescribe(p, JSON))));
  }

  public Op<Documents.ImageResult> pullImage(Object request) {
    return with(p -> new Op<>(Native.imagePull(p, JSON, json(request)), Documents.ImageResult::fromJson, this));
  }

  public Documents.ImageList images() {
    return with(p -> Documents.ImageList.fromJson(text(Native.imageList(p, JSON))));
  }

  public void pinImage(String reference, boolean on) {
    run(p -> Native.imagePin(p, utf8(reference), on ? 1 : 0));
  }

  public void exportImage(String reference, Object directory) {
    run(p -> Native.imageExport(p, utf8(reference), utf8(directory)));
  }

  public Op<Documents.DatasetResult> cacheDataset(Object request) {
    return with(p -> new Op<>(Native.datasetCache(p, JSON, json(request)), Documents.DatasetResult::fromJson, this));
  }

  public Documents.DatasetList datasets() {
    return with(p -> Documents.DatasetList.fromJson(text(Native.datasetList(p, JSON))));
  }

  public void pinDataset(String name, boolean on) {
    run(p -> Native.datasetPin(p, utf8(name), on ? 1 : 0));
  }

  /** Bytes freed. */
  public long evictDatasets(long targetBytes) {
    return withLong(p -> Native.datasetEvict(p, targetBytes));
  }
}
