# SPDX-License-Identifier: Apache-2.0
# Sourced by run: an agent on each node, one pull to all of them.

run_ours() {
  local i run began before members times=() origins=() pid
  make_ca
  make_cert manager DNS:manager
  for i in $(seq "$nodes"); do make_cert "n$i" "DNS:n$i,IP:$(address_of "$i")"; done
  printf '{"registries": {"%s:5000": {"plain_http": true}}}\n' $registry_address >"$work/registries.json"
  for run in $(seq "$runs"); do
    note "== ours, run $run of $runs"
    members=()
    local agents=()
    for i in $(seq "$nodes"); do
      rm -rf "$work/n$i" "$work/n$i.ports"
      # shellcheck disable=SC2046
      start "n$i" ip netns exec "$ns$i" "$bin/agent" --name "n$i" --data "$work/n$i" --listen "$(address_of "$i")" \
        --port 7400 --port-file "$work/n$i.ports" $(tls_of "n$i") --registry-config "$work/registries.json" \
        --chunk "${chunk}M"
      agents+=("$started_pid")
      members+=(--member "n$i=$(address_of "$i"):7400")
    done
    for i in $(seq "$nodes"); do wait_for 20 "agent n$i" test -s "$work/n$i.ports"; done
    before=$(registry_bytes)
    began=$(now)
    # shellcheck disable=SC2046
    ip netns exec "${ns}mgr" "$bin/aistation" pull "$registry_address:5000/bench/image:1" "${members[@]}" \
      $(tls_of manager) --quiet >"$work/pull.log" 2>&1 || { cat "$work/pull.log" >&2; die "the pull failed"; }
    times+=("$(since "$began")")
    origins+=($(($(registry_bytes) - before)))
    for pid in "${agents[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${agents[@]}"; do wait "$pid" 2>/dev/null || true; done
    pids=("${pids[0]}")
  done
  note "   ours: ${times[*]} s"
  ours=$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p")
  origin=$(printf '%s\n' "${origins[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p")
}
