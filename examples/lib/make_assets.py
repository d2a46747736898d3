#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the image and the dataset of examples/run out of files of this machine.

usage: make_assets.py image DIRECTORY     OCI layout with four layers, at least 200 MB
       make_assets.py dataset DIRECTORY   2,048 files in 16 directories, at least 100 MiB

The directory appears complete or not at all.
"""
import gzip
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import stat
import sys
import tarfile

ROOTS = ["/usr/lib", "/usr/bin", "/usr/share", "/usr/include", "/usr/sbin"]
LAYERS = 4
LAYER_BYTES = 53_000_000  # compressed
FILES, DIRECTORIES, DATASET_BYTES = 2048, 16, 104_857_600


def real_files():
    """Regular files of 1 KiB to 64 MiB, in a fixed order; again and again, should they not do."""
    found = []
    for root in ROOTS:
        for directory, names, files in os.walk(root):
            names.sort()
            for name in sorted(files):
                path = os.path.join(directory, name)
                try:
                    info = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISREG(info.st_mode) and 1024 <= info.st_size <= 64 << 20:
                    found.append(path)
    return found


class HashingFile:
    def __init__(self, path):
        self.file, self.sha, self.size = open(path, "wb"), hashlib.sha256(), 0

    def write(self, data):
        self.sha.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()


class Plain:
    """What goes into the compressor: hashed for the diff_id."""

    def __init__(self, target):
        self.target, self.sha = target, hashlib.sha256()

    def write(self, data):
        self.sha.update(data)
        return self.target.write(data)


def make_layer(task):
    directory, number, files = task
    blob = HashingFile(os.path.join(directory, "layer-%d" % number))
    with gzip.GzipFile("", "wb", 1, blob, 0) as packed:
        plain = Plain(packed)
        with tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            turn = 0
            while blob.size < LAYER_BYTES:
                for path in files:
                    info = tarfile.TarInfo("opt/layer%d/%d%s" % (number, turn, path))
                    try:
                        with open(path, "rb") as source:
                            info.size, info.mode = os.fstat(source.fileno()).st_size, 0o644
                            tar.addfile(info, source)
                    except PermissionError:
                        continue
                    if blob.size >= LAYER_BYTES:
                        break
                turn += 1
    blob.file.close()
    digest = blob.sha.hexdigest()
    os.rename(os.path.join(directory, "layer-%d" % number),
              os.path.join(directory, "blobs", "sha256", digest))
    return digest, blob.size, plain.sha.hexdigest()


def put(directory, value):
    text = json.dumps(value).encode()
    digest = hashlib.sha256(text).hexdigest()
    with open(os.path.join(directory, "blobs", "sha256", digest), "wb") as file:
        file.write(text)
    return "sha256:" + digest, len(text)


def make_image(directory):
    os.makedirs(os.path.join(directory, "blobs", "sha256"))
    files = real_files()
    tasks = [(directory, i, files[i::LAYERS]) for i in range(LAYERS)]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        layers = pool.map(make_layer, tasks, 1)
    config, config_size = put(directory, {
        "architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/true"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + d for _, _, d in layers]}})
    kind = "application/vnd.oci.image."
    manifest, manifest_size = put(directory, {
        "schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
        "config": {"mediaType": kind + "config.v1+json", "digest": config, "size": config_size},
        "layers": [{"mediaType": kind + "layer.v1.tar+gzip", "digest": "sha256:" + digest,
                    "size": size} for digest, size, _ in layers]})
    with open(os.path.join(directory, "index.json"), "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 2, "manifests": [
            {"mediaType": kind + "manifest.v1+json", "digest": manifest, "size": manifest_size,
             "annotations": {"org.opencontainers.image.ref.name": "1"}}]}, file)
    with open(os.path.join(directory, "oci-layout"), "w", encoding="utf-8") as file:
        file.write('{"imageLayoutVersion": "1.0.0"}')


def real_bytes():
    while True:
        for path in real_files():
            try:
                with open(path, "rb") as source:
                    while data := source.read(1 << 20):
                        yield data
            except OSError:
                continue


def make_dataset(directory):
    rng = random.Random(20261201)
    sizes = [rng.randrange(16 << 10, 88 << 10) for _ in range(FILES)]
    sizes[-1] += max(0, DATASET_BYTES - sum(sizes))
    stream, buffer = real_bytes(), b""
    for i in range(DIRECTORIES):
        os.makedirs(os.path.join(directory, "part-%02d" % i))
    for i, size in enumerate(sizes):
        pieces, have = [buffer], len(buffer)
        while have < size:
            pieces.append(next(stream))
            have += len(pieces[-1])
        data = b"".join(pieces)
        data, buffer = data[:size], data[size:]
        name = "part-%02d/sample-%04d.bin" % (i % DIRECTORIES, i)
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


def main(argv):
    makers = {"image": make_image, "dataset": make_dataset}
    if len(argv) != 3 or argv[1] not in makers:
        print(__doc__.strip())
        return 0 if "--help" in argv else 2
    temporary = argv[2] + ".part"
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    makers[argv[1]](temporary)
    os.rename(temporary, argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
