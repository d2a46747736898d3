#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an OCI layout with an image that does not compress, and prints its size.

usage: image.py DIRECTORY MIB
"""
import hashlib
import io
import json
import os
import random
import sys
import tarfile

LAYERS = 4
TYPE = "application/vnd.oci.image."


def main():
    directory, size = sys.argv[1], int(sys.argv[2]) << 20
    os.makedirs(directory + "/blobs/sha256")
    rng = random.Random(7)

    def put(data):
        digest = hashlib.sha256(data).hexdigest()
        with open(directory + "/blobs/sha256/" + digest, "wb") as file:
            file.write(data)
        return {"digest": "sha256:" + digest, "size": len(data)}

    def layer(number):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("data%d" % number)
            info.size = size // LAYERS
            tar.addfile(info, io.BytesIO(rng.randbytes(info.size)))
        return {"mediaType": TYPE + "layer.v1.tar", **put(out.getvalue())}

    layers = [layer(i) for i in range(LAYERS)]
    config = put(json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                             "rootfs": {"type": "layers", "diff_ids": [x["digest"] for x in layers]}}).encode())
    manifest = put(json.dumps({"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json",
                               "config": {"mediaType": TYPE + "config.v1+json", **config},
                               "layers": layers}).encode())
    with open(directory + "/index.json", "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 2, "manifests": [
            {"mediaType": TYPE + "manifest.v1+json", **manifest,
             "annotations": {"org.opencontainers.image.ref.name": "1"}}]}, file)
    with open(directory + "/oci-layout", "w", encoding="utf-8") as file:
        file.write('{"imageLayoutVersion": "1.0.0"}')
    print(config["size"] + sum(x["size"] for x in layers))


main()
