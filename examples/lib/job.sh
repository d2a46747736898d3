# SPDX-License-Identifier: Apache-2.0
# Bash functions of examples/run: the surroundings, the job, the fault, the checks. Sourced after
# services.sh; uses $root, $work, $cache, $bin, $out, $began.

nodes="11 12 13 14"

prepare_surroundings() {
  mkdir -p "$cache"
  make_ca
  make_cert registry IP:127.0.0.1,DNS:localhost
  make_cert manager DNS:manager
  if [ ! -d "$cache/dataset" ]; then
    note "   making the dataset (once; kept in build/example-cache)"
    /usr/bin/python3 "$root/examples/lib/make_assets.py" dataset "$cache/dataset"
  fi
  if [ ! -f "$cache/registry.ready" ]; then
    note "   making the image (once; kept in build/example-cache)"
    rm -rf "$cache/registry" "$cache/image"
    /usr/bin/python3 "$root/examples/lib/make_assets.py" image "$cache/image"
  fi
  start_registry "$cache/registry"
  if [ ! -f "$cache/registry.ready" ]; then
    push_image "$cache/image:1" bank/train:1
    touch "$cache/registry.ready"
  fi
  start_storage "$cache/dataset" 40m
  # The agents' ports are known only when they listen, so their own inventories come first.
  /usr/bin/python3 "$root/examples/lib/make_cluster.py" "$work/cluster"
  local n ports=""
  for n in $nodes; do start_agent "$n"; done
  for n in $nodes; do
    await_agent "$n"
    ports="$ports node$n=${agent_port[$n]}"
  done
  # shellcheck disable=SC2086
  /usr/bin/python3 "$root/examples/lib/make_cluster.py" "$work/cluster" $ports
  export AISTATION_STORE=$work/centre.db
  registry_lines=$(wc -l <"$work/registry.log")
}

# aistation with the manager's identity
cli() {
  # shellcheck disable=SC2046
  "$bin/aistation" "$@" $(tls_of manager)
}

# The department may hold 24 cards: 32 must be refused, and the refusal must name the quota.
check_quota() {
  local status=0
  cli plan --inventory "$work/cluster/cluster.json" --cards 32 --department risk --json \
    >"$work/refusal.json" || status=$?
  [ $status = 3 ] || die "32 cards for a quota of 24: expected exit code 3, got $status"
  grep -q '"constraint": "quota"' "$work/refusal.json" || die "the refusal does not name the quota"
}

write_spec() {
  mkdir -p "$work/checkpoints"
  cat >"$work/job.json" <<SPEC
{
  "name": "fraud-model",
  "department": "risk",
  "user": "example",
  "resources": {"cards": 16, "need_nics": true, "max_nodes": 2, "models": ["H100*"]},
  "image": "$registry/bank/train:1",
  "dataset": "$storage",
  "dataset_name": "transactions",
  "command": ["$bin/trainer", "--slow-epoch", "2", "--slow-ms", "3000"],
  "checkpoint_directory": "$work/checkpoints",
  "max_attempts": 3,
  "backoff_ns": 500000000
}
SPEC
}

# One value out of a JSON document on stdin: pick 'd["attempts"][0]…'
pick() { /usr/bin/python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }

# Breaks card 3 of the second node while epoch 2 runs: the line that the driver would write, then the
# death of the rank that used the card.
break_a_card() {
  local tries=1200 id node index pci rank number pid line
  while [ ! -f "$work/checkpoints/epoch-1.checkpoint" ]; do
    sleep 0.05
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 0
  done
  sleep 0.7
  id=$(cat "$work/job.id")
  cli status "$id" --json >"$work/before-fault.json"
  index='d["attempts"][0]["placement"]["nodes"]'
  node=$(pick "${index}[1][\"node\"]" <"$work/before-fault.json")
  pci=$(pick "${index}[1][\"cards\"][3][\"card_pci_address\"]" <"$work/before-fault.json")
  rank=$(pick "len(${index}[0][\"cards\"]) + 3" <"$work/before-fault.json")
  number=${node#node}
  pid=$(rank_pid "${agent_pid[$number]}" "$rank")
  if [ -z "$pid" ]; then
    note "   rank $rank of $node was not found"
    return 0
  fi
  line="6,1234,5678,-;NVRM: Xid (PCI:${pci%.*}): 79, pid=$pid, name=trainer, GPU has fallen off the bus."
  printf '%s\n' "$line" >>"$work/node$number.kernel"
  kill -9 "$pid"
  printf '{"unix_ns": %s, "node": "%s", "rank": %s, "pci": "%s"}\n' "$(date +%s%N)" "$node" "$rank" \
    "$pci" >"$work/fault.json"
  note "   fault: Xid 79 on $node $pci, rank $rank (pid $pid) killed"
}

# The process below the agent whose environment has this RANK
rank_pid() {
  local directory pid
  for directory in /proc/[0-9]*; do
    pid=${directory#/proc/}
    grep -qs "^PPid:[[:space:]]*$1\$" "$directory/status" || continue
    if tr '\0' '\n' <"$directory/environ" 2>/dev/null | grep -qx "RANK=$2"; then
      echo "$pid"
      return 0
    fi
  done
}

run_job() {
  local status=0 breaker
  write_spec
  break_a_card &
  breaker=$!
  pids+=("$breaker")
  cli submit "$work/job.json" --inventory "$work/cluster/cluster.json" --id-file "$work/job.id" \
    --json >"$work/job-result.json" || status=$?
  [ $status = 0 ] || {
    note "$(cat "$work/job-result.json")"
    die "the job ended with exit code $status"
  }
  wait "$breaker" 2>/dev/null || true
}

finish() {
  local id n
  id=$(cat "$work/job.id")
  mkdir -p "$out"
  cli status "$id" >"$work/job.txt"
  cli report --title "examples/run" --job "$id" --output "$out/report.html" >"$work/report.txt"
  cli report --kind json --job "$id" --output "$out/report.json" >"$work/report.txt"
  cli audit verify >"$work/audit.txt" || die "the audit log is damaged: $(cat "$work/audit.txt")"
  for n in $nodes; do
    cli status --agent "127.0.0.$n:${agent_port[$n]}" --json >"$work/status-node$n.json"
  done
  cat "$work/job.txt"
  /usr/bin/python3 "$root/examples/lib/check_run.py" "$work" "$cache" "$registry_lines" "$bin/aistation" \
    "$began" "$out"
}
