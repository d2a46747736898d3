#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what examples/run has done, from outside: access logs, files on disk, the job document.

usage: check_run.py WORK CACHE REGISTRY_LOG_LINES AISTATION BEGAN_NS OUT

Prints one line for each check and figure; exit code 1 when a check fails.
"""
import filecmp
import hashlib
import json
import os
import re
import subprocess
import sys
import time

failures = []


def check(ok, text):
    print("%s  %s" % ("ok  " if ok else "FAIL", text))
    if not ok:
        failures.append(text)


def load(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return json.load(file)


def registry_bytes(work, skip):
    """Body bytes of blobs that the registry's own access log says it has sent."""
    total = 0
    pattern = re.compile(r'"GET /v2/\S+/blobs/\S+ HTTP/[\d.]+" (?:200|206) (\d+)')
    with open(os.path.join(work, "registry.log"), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file):
            match = pattern.search(line) if number >= skip else None
            total += int(match.group(1)) if match else 0
    return total


def storage_bytes(work):
    total = 0
    with open(os.path.join(work, "storage.access"), encoding="utf-8") as file:
        for line in file:
            method, status, size, uri = line.split(" ", 3)
            if method == "GET" and status in ("200", "206") and not uri.strip().endswith("/"):
                total += int(size)
    return total


def image_size(layout_manifest):
    return layout_manifest["config"]["size"] + sum(x["size"] for x in layout_manifest["layers"])


def image_manifest(cache):
    index = load(cache, "image", "index.json")["manifests"][0]
    return load(cache, "image", "blobs", "sha256", index["digest"].split(":")[1])


def file_sha256(path):
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            sha.update(data)
    return sha.hexdigest()


def check_layout(node, path, manifest):
    """Every blob of the manifest is there and has its digest."""
    bad = []
    for part in [manifest["config"]] + manifest["layers"]:
        blob = os.path.join(path, "blobs", "sha256", part["digest"].split(":")[1])
        if not os.path.isfile(blob) or "sha256:" + file_sha256(blob) != part["digest"]:
            bad.append(part["digest"])
    check(not bad, "image on %s: %d blobs with their digests%s"
          % (node, len(manifest["layers"]) + 1, ", wrong: " + ", ".join(bad) if bad else ""))


def check_dataset(aistation, node, path, source, work):
    copy = os.path.join(work, "export-" + node)
    result = subprocess.run([aistation, "dataset", "export", path, copy, "--quiet"],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        check(False, "dataset on %s: %s" % (node, result.stderr.strip()))
        return
    names = sorted(os.path.relpath(os.path.join(d, f), source)
                   for d, _, files in os.walk(source) for f in files)
    have = sorted(os.path.relpath(os.path.join(d, f), copy)
                  for d, _, files in os.walk(copy) for f in files)
    _, differ, errors = filecmp.cmpfiles(source, copy, names, shallow=False)
    check(names == have and not differ and not errors,
          "dataset on %s: %d files, each as in the source" % (node, len(have)))


def epoch_ms(checkpoints, epoch):
    """Time of the slowest rank."""
    slowest = 0
    for rank in range(16):
        with open(os.path.join(checkpoints, "epoch-%d.rank-%d" % (epoch, rank)),
                  encoding="ascii") as file:
            slowest = max(slowest, int(re.search(r"microseconds=(\d+)", file.read()).group(1)))
    return slowest / 1e3


def node_names(attempt):
    return [n["node"] for n in attempt["placement"]["nodes"]]


def check_job(job, fault):
    attempts = job["attempts"]
    check(job["state"] == "JOB_STATE_SUCCEEDED", "the job succeeded")
    check(len(attempts) == 2, "two attempts (%d)" % len(attempts))
    first, last = attempts[0], attempts[-1]
    for attempt in attempts:
        cards = [c for n in attempt["placement"]["nodes"] for c in n["cards"]]
        check(len(cards) == 16 and all(c["nic_address"] for c in cards),
              "attempt %d: 16 cards, each with a NIC, on %s"
              % (attempt["number"], " and ".join(node_names(attempt))))
        near = sum(c["link"] == "LINK_CLASS_PIX" for c in cards)
        check(near == 16, "attempt %d: %d of 16 NICs behind the same PCIe switch as the card"
              % (attempt["number"], near))
        probe = attempt.get("probe", {})
        check(probe.get("all_ok", False), "attempt %d: %d reachability tests passed, by %s"
              % (attempt["number"], len(probe.get("results", [])), probe.get("method", "?")))
    verdict = first.get("verdict", {})
    check(verdict.get("node") == fault["node"] and verdict.get("fault_class") == "accelerator",
          "verdict: " + verdict.get("sentence", "none"))
    lines = [e["line"] for e in verdict.get("evidence", [])]
    check(any("Xid" in line and "79" in line for line in lines),
          "evidence: " + (lines[0] if lines else "none"))
    check(fault["node"] not in node_names(last), "the second attempt avoids " + fault["node"])
    print("fig   from the fault to running again: %.1f s"
          % ((last["running_unix_ns"] - fault["unix_ns"]) / 1e9))


def check_resume(work):
    log = "".join(open(os.path.join(work, f), encoding="utf-8", errors="replace").read()
                  for f in os.listdir(work) if re.fullmatch(r"node\d+\.log", f))
    checkpoint = os.path.join(work, "checkpoints", "epoch-%d.checkpoint")
    check(all(os.path.exists(checkpoint % e) for e in (1, 2, 3)), "three epochs have a checkpoint")
    sums = {open(checkpoint % e, encoding="ascii").read().split("checksum=")[1] for e in (1, 2, 3)}
    check(len(sums) == 1, "all epochs read the same bytes (checksum %s)" % sums.pop().strip())
    first = min(os.stat(os.path.join(work, "checkpoints", "epoch-1.rank-%d" % r)).st_mtime_ns
                for r in range(16))
    fault = load(work, "fault.json")["unix_ns"]
    last = max(os.stat(os.path.join(work, "checkpoints", "epoch-1.rank-%d" % r)).st_mtime_ns
               for r in range(16))
    check(first <= last < fault, "the second attempt went on from the checkpoint of epoch 1")
    return log


def main(argv):
    work, cache, skip, aistation, began, out = argv[1:7]
    job = load(work, "job-result.json")
    fault = load(work, "fault.json")
    manifest = image_manifest(cache)
    check_job(job, fault)
    check_resume(work)
    size = image_size(manifest)
    sent = registry_bytes(work, int(skip))
    check(sent == size, "registry bytes / image size = %d / %d = %.2f (registry's access log)"
          % (sent, size, sent / size))
    check(size >= 200_000_000 and len(manifest["layers"]) >= 3,
          "image of %d layers, %.0f MB" % (len(manifest["layers"]), size / 1e6))
    source = os.path.join(cache, "dataset")
    files = [os.path.join(d, f) for d, _, names in os.walk(source) for f in names]
    size = sum(os.path.getsize(f) for f in files)
    sent = storage_bytes(work)
    check(sent == size, "storage bytes / dataset size = %d / %d = %.2f (web server's access log)"
          % (sent, size, sent / size))
    check(len(files) >= 2000 and size >= 100_000_000,
          "dataset of %d files, %.0f MB" % (len(files), size / 1e6))
    seen = set()
    for attempt in job["attempts"]:
        for node, image, dataset in zip(node_names(attempt), attempt["images"],
                                        attempt["datasets"]):
            if node in seen:
                continue
            seen.add(node)
            check_layout(node, image["path"], manifest)
            check_dataset(aistation, node, dataset["path"], source, work)
    checkpoints = os.path.join(work, "checkpoints")
    print("fig   epoch 1 (cold) %.0f ms, epoch 3 (warm) %.0f ms, slowest rank"
          % (epoch_ms(checkpoints, 1), epoch_ms(checkpoints, 3)))
    with open(os.path.join(work, "audit.txt"), encoding="utf-8") as file:
        check(True, "audit log: " + file.read().strip())
    seconds = (time.time_ns() - int(began)) / 1e9
    print("fig   whole run %.1f s" % seconds)
    check(seconds < 60, "under 60 s")
    print("report: " + os.path.join(out, "report.html"))
    if failures:
        print("%d checks failed" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
