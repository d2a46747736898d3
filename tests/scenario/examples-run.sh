#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The main job as a newcomer runs it, with the programs of this build.
. "$(dirname "${BASH_SOURCE[0]}")/lib/setup.bash"
need docker-registry nginx skopeo openssl

if "$root/examples/run" --no-build --build-dir "$build" --out "$work/out" >"$work/run.log" 2>&1; then
  ok "examples/run"
else
  bad "examples/run: exit code $?"
  tail -60 "$work/run.log"
fi
expect "the report is a page of its own" grep -qi '<!doctype html' "$work/out/report.html"
if grep -Eq '(src|href)="?https?://' "$work/out/report.html"; then bad "the report loads things from elsewhere"; else ok "the report loads nothing"; fi
expect "the numbers are there as JSON" /usr/bin/python3 -m json.tool "$work/out/report.json" /dev/null
finish_scenario
