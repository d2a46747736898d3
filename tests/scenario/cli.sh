#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line: help, exit codes, --json, bad input.
. "$(dirname "${BASH_SOURCE[0]}")/lib/setup.bash"

cli=$bin/aistation
cluster=$root/examples/data/cluster.json
export AISTATION_STORE=$work/centre.db
unset AISTATION_TLS_CA AISTATION_TLS_CERT AISTATION_TLS_KEY
is_json() { /usr/bin/python3 -m json.tool "$work/out" /dev/null; }
error_is() { # CODE REASON
  /usr/bin/python3 - "$work/out" "$1" "$2" <<'PY'
import json, sys
e = json.load(open(sys.argv[1]))
assert set(e) == {"code", "reason", "message"} and e["message"], e
assert e["code"] == sys.argv[2] and e["reason"] == sys.argv[3], e
PY
}

expect_code "help" 0 "$cli" help
commands=$(awk '/^commands:/{on=1;next} /^$/{on=0} on{print $1}' "$work/out")
[ "$(echo "$commands" | wc -w)" -ge 18 ] && ok "all commands are listed" || bad "commands: $commands"
for command in $commands; do
  [ "$command" = help ] && continue
  expect_code "$command --help" 0 "$cli" "$command" --help
  grep -q '^examples:' "$work/out" && grep -q '^usage:' "$work/out" || bad "$command --help has no examples"
done
expect_code "help exit-codes" 0 "$cli" help exit-codes
expect_code "no such command" 2 "$cli" fly
expect_code "unknown option" 2 "$cli" discover --fly
expect_code "option twice" 2 "$cli" plan --cards 1 --cards 2
expect_code "missing argument" 2 "$cli" submit
expect_code "agent --help" 0 "$bin/agent" --help
expect_code "agent without identity" 2 "$bin/agent" --name n --data "$work/n"
expect_code "trainer --help" 0 "$bin/trainer" --help
expect_code "trainer without environment" 1 env -u RANK -u WORLD_SIZE "$bin/trainer"

for words in "discover" "topology" "version" "plan --inventory $cluster --cards 16 --need-nics" \
  "topology $root/examples/data/node11.json" \
  "topology $root/examples/data/node11.json --from GPU-1101 --to mlx5_0" \
  "alloc show --inventory $cluster" "status" "events" "audit verify" "audit show" \
  "report --kind json"; do
  # shellcheck disable=SC2086
  expect_code "$words" 0 "$cli" $words
  # shellcheck disable=SC2086
  expect_code "$words --json" 0 "$cli" $words --json
  is_json >/dev/null 2>&1 || bad "$words --json is not JSON"
done
grep -q PIX <("$cli" topology "$root/examples/data/node11.json" --from GPU-1101 --to mlx5_0) &&
  ok "distance of a card to its NIC" || bad "distance of a card to its NIC"

expect_code "more cards than there are" 3 "$cli" plan --inventory "$cluster" --cards 64
expect_code "quota" 3 "$cli" plan --inventory "$cluster" --cards 32 --department risk --json
grep -q '"constraint": "quota"' "$work/out" && ok "the refusal names the quota" || bad "the refusal names no quota"
expect_code "allocate" 0 "$cli" alloc allocate --inventory "$cluster" --cards 8 --department risk --request-id r1 --json
grant=$(/usr/bin/python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["grant_id"])' "$work/out")
expect_code "the same request again" 0 "$cli" alloc allocate --cards 8 --department risk --request-id r1 --json
[ "$grant" = "$(/usr/bin/python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["grant_id"])' "$work/out")" ] &&
  ok "gives the same grant" || bad "gives another grant"
expect_code "quota in the ledger" 3 "$cli" alloc allocate --cards 24 --department risk --json
error_is RESOURCE_EXHAUSTED alloc.quota && ok "its error as JSON" || bad "its error as JSON: $(cat "$work/out")"
expect_code "release" 0 "$cli" alloc release "$grant"
expect_code "release again" 0 "$cli" alloc release "$grant"
expect_code "release what never was" 4 "$cli" alloc release nothing --json
error_is NOT_FOUND alloc.no_grant && ok "its error as JSON" || bad "its error as JSON: $(cat "$work/out")"
expect_code "cordon" 0 "$cli" alloc cordon node11 --why "fan"
expect_code "cordoned node is not planned" 3 "$cli" plan --cards 32
expect_code "uncordon" 0 "$cli" alloc uncordon node11

echo '{"nodes": [{"name": "a", "cards": [{"id": 7}]}]}' >"$work/bad.json"
expect_code "wrong type in an inventory" 2 "$cli" plan --inventory "$work/bad.json" --cards 1 --json
grep -q 'cards' "$work/out" && ok "the error names the field" || bad "the error does not name the field: $(cat "$work/out")"
echo '{"nodes": [' >"$work/bad.json"
expect_code "broken JSON" 2 "$cli" plan --inventory "$work/bad.json" --cards 1
expect_code "no such file" 4 "$cli" plan --inventory "$work/none.json" --cards 1
expect_code "job without cards" 2 "$cli" submit "$work/bad.json" --no-run
expect_code "no such job" 4 "$cli" status nothing --json
expect_code "no identity for agents" 2 "$cli" status --agent 127.0.0.1:9
expect_code "not a data set" 4 "$cli" dataset files "$work/none"
expect_code "source is no directory" 4 "$cli" dataset index "$work/none" --dataset-name x
mkdir -p "$work/source/a" && echo one >"$work/source/a/1" && echo two >"$work/source/2"
expect_code "index a directory" 0 "$cli" dataset index "$work/source" --dataset-name tiny -o "$work/tiny.json" --json
grep -q '"a/1"' "$work/tiny.json" && ok "the manifest lists the files" || bad "the manifest lists no files"

echo '[ 12.3] NVRM: Xid (PCI:0000:1b:00): 79, pid=7, name=python, GPU has fallen off the bus.' >"$work/k.log"
expect_code "classify" 0 "$cli" classify "$work/k.log" --node node11 --exit-status 137 --json
grep -q '"fault_class": "accelerator"' "$work/out" && ok "Xid 79 is a fault of the card" || bad "Xid 79: $(cat "$work/out")"
expect_code "report as a page" 0 "$cli" report -o "$work/report.html"
expect_code "report as a table" 0 "$cli" report --kind csv
finish_scenario
