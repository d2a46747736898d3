# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts: each prints "ok WHAT" or "FAIL WHAT: reason" and ends with 1 when something
# failed, or 77 with the reason on its last line when it cannot run.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${AISTATION_BUILD_DIR:-$root/build/release}
library=$build/libaistation.so
failures=0
cd "$root" || exit 1

ok() { echo "ok $*"; }
bad() { echo "FAIL $*"; failures=$((failures + 1)); }
skip_all() { echo "skipped: $*"; exit 77; }
finish() { [ $failures = 0 ]; exit; }
# expect WHAT COMMAND…: one check
expect() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then ok "$what"; else bad "$what: $(tail -n 3 <<<"$output" | tr '\n' ' ')"; fi
}
need_library() { [ -f "$library" ] || { bad "library: $library is not built"; finish; }; }
# Sanitizers change symbols, initialisers and linking.
plain_build_only() {
  ! grep -q '^AISTATION_SANITIZE:STRING=..*' "$build/CMakeCache.txt" 2>/dev/null ||
    skip_all "the build has sanitizers"
}
# Tracked files and new ones that git does not ignore; all files when this is not a checkout.
sources() {
  git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build/*' -not -path './out/*' | cut -c 3-
}
