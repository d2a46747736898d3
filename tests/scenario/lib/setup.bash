# SPDX-License-Identifier: Apache-2.0
# Sourced by the scenarios. A scenario prints one line for each check ("ok   …" or "FAIL …") and ends
# with 0, 1, or 77 with the reason on its last line when this machine cannot run it.
# AISTATION_BUILD_DIR: build tree, default build/release.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${AISTATION_BUILD_DIR:-$root/build/release}
bin=$build/examples
cache=$root/build/example-cache
failures=0

skip() { echo "skipped: $*"; exit 77; }
ok() { echo "ok   $*"; }
bad() { echo "FAIL $*"; failures=$((failures + 1)); }
# expect WHAT COMMAND…
expect() {
  local what=$1
  shift
  if "$@" >>"$work/expect.log" 2>&1; then ok "$what"; else bad "$what"; fi
}
# expect_code WHAT CODE COMMAND…: output in $work/out and $work/err
expect_code() {
  local what=$1 code=$2 got=0
  shift 2
  "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
  if [ "$got" = "$code" ]; then ok "$what"; else bad "$what: exit code $got instead of $code: $(head -c 300 "$work/err")"; fi
}
finish_scenario() {
  [ $failures = 0 ] || { echo "$failures checks failed"; exit 1; }
  exit 0
}
need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || skip "$program is not installed"
  done
}

# shellcheck source=../../../examples/lib/services.sh
. "$root/examples/lib/services.sh"
for program in aistation agent trainer; do
  [ -x "$bin/$program" ] || { echo "FAIL $bin/$program is not built"; exit 1; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/aistation-scenario.XXXXXX")
cleanup() {
  local status=$?
  stop_all
  rm -rf "$work"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# A small image of our own: two layers of a few MiB, in a registry that starts empty.
# small_image MIB: pushes bank/small:1 and sets $image_bytes
small_image() {
  /usr/bin/python3 - "$work/layout" "$1" <<'PY'
import hashlib, io, json, os, random, sys, tarfile
directory, mib = sys.argv[1], int(sys.argv[2])
os.makedirs(directory + "/blobs/sha256")
rng = random.Random(11)
def put(data):
    digest = hashlib.sha256(data).hexdigest()
    with open(directory + "/blobs/sha256/" + digest, "wb") as file:
        file.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}
layers, diffs = [], []
for i in range(2):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        info = tarfile.TarInfo("data%d" % i)
        info.size = (mib << 20) // 2
        tar.addfile(info, io.BytesIO(rng.randbytes(info.size)))
    layers.append({"mediaType": "application/vnd.oci.image.layer.v1.tar", **put(data.getvalue())})
    diffs.append(layers[-1]["digest"])
config = put(json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                         "rootfs": {"type": "layers", "diff_ids": diffs}}).encode())
kind = "application/vnd.oci.image."
manifest = put(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
    "config": {"mediaType": kind + "config.v1+json", **config}, "layers": layers}).encode())
with open(directory + "/index.json", "w") as file:
    json.dump({"schemaVersion": 2, "manifests": [{"mediaType": kind + "manifest.v1+json", **manifest,
        "annotations": {"org.opencontainers.image.ref.name": "1"}}]}, file)
with open(directory + "/oci-layout", "w") as file:
    file.write('{"imageLayoutVersion": "1.0.0"}')
print(config["size"] + sum(l["size"] for l in layers))
PY
}
# Body bytes of blobs after line $1 of the registry's access log
blob_bytes() {
  tail -n "+$(($1 + 1))" "$work/registry.log" | awk '
    match($0, /"GET \/v2\/[^ ]+\/blobs\/[^ ]+ HTTP\/[0-9.]+" (200|206) [0-9]+/) {
      n = split(substr($0, RSTART, RLENGTH), part, " "); total += part[n] }
    END { print total + 0 }'
}
