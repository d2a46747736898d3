#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runner itself: what fails, crashes, hangs or is skipped is counted as such.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

work=$(mktemp -d "${TMPDIR:-/tmp}/runner.XXXXXX")
trap 'rm -rf "$work"' EXIT
results=$root/tests/lib/results.py

# states WHAT WANTED COMMAND…: the states and names that a conversion gives
states() {
  local what=$1 wanted=$2 got
  shift 2
  got=$("$@" | cut -f 1,3 | tr '\t\n' ' ;')
  if [ "$got" = "$wanted" ]; then ok "$what"; else bad "$what: '$got' instead of '$wanted'"; fi
}
lines() { /usr/bin/python3 "$results" lines s n "$1" "$work/log"; }
junit() { /usr/bin/python3 "$results" junit s n "$1" "$work/log" "$work/x.xml"; }

printf 'ok a\nFAIL b: because\nskip c: no disk\nnoise\n' >"$work/log"
states "lines of a script" "passed n: a;failed n: b;skipped n: c;" lines 1
printf 'ok a\n' >"$work/log"
states "a script that dies after its last check" "passed n: a;failed n;" lines 139
printf 'ok a\nskipped: no root\n' >"$work/log"
states "a script that cannot run" "passed n: a;skipped n;" lines 77
: >"$work/log"
states "a script that checks nothing" "failed n;" lines 0

cat >"$work/x.xml" <<'XML'
<testsuites><testsuite name="t">
<testcase name="good" classname="C" status="run"/><testcase name="bad" classname="C"><failure message="x"/></testcase>
<testcase name="later" classname="C"><skipped message="no file"/></testcase></testsuite></testsuites>
XML
states "JUnit XML" "passed n: C.good;failed n: C.bad;skipped n: C.later;" junit 1
printf '<testsuites><testsuite><testcase name="good" classname="C"/></testsuite></testsuites>' >"$work/x.xml"
states "a test program that crashes at its end" "passed n: C.good;failed n;" junit 134
rm "$work/x.xml"
states "a test program that crashes before it writes" "failed n;" junit 134

printf 'passed\ts\ta\t\nfailed\ts\tb\twhy\nskipped\ts\tc\tno disk\n' >"$work/tsv"
output=$(/usr/bin/python3 "$results" summary "$work/tsv")
code=$?
if [ $code = 1 ] && [ "$(tail -1 <<<"$output")" = "1 passed, 1 failed, 1 skipped" ]; then ok "the last line"; else bad "the last line: $output"; fi
if grep -q '^failed s/b: why$' <<<"$output" && grep -q '^skipped s/c: no disk$' <<<"$output"; then ok "failures and skips are listed"; else bad "failures and skips are listed: $output"; fi
printf 'passed\ts\ta\t\n' >"$work/tsv"
if /usr/bin/python3 "$results" summary "$work/tsv" >/dev/null; then ok "all passed is 0"; else bad "all passed is 0"; fi
: >"$work/tsv"
if /usr/bin/python3 "$results" summary "$work/tsv" >/dev/null; then bad "nothing run is a failure"; else ok "nothing run is a failure"; fi
bash tests/run --nonsense >/dev/null 2>&1
if [ $? = 2 ]; then ok "an unknown option is 2"; else bad "an unknown option is 2"; fi

# The list of packages is well formed and the installer sees what is missing.
# shellcheck disable=SC1091
(. cmake/bootstrap.sh && printf 'bash\nno-such-package-here\n' >"$work/list" && aist_packages_missing "$work/list" >"$work/missing")
if [ "$(cat "$work/missing")" = no-such-package-here ]; then ok "a missing package is found"; else bad "a missing package is found: $(cat "$work/missing")"; fi
finish
