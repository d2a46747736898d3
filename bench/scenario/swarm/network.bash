# SPDX-License-Identifier: Apache-2.0
# Sourced by run: a bridge in a namespace of its own, and a namespace for the registry, the manager and
# each node, all behind links of $mbit in both directions (the manager's has no limit).
ns=aist$$-
made=()
registry_address=10.77.0.2

address_of() { echo "10.77.0.$((10 + $1))"; }

# attach NAME ADDRESS RATE_MBIT|0
attach() {
  local name=$ns$1 port=p$1
  ip netns add "$name" && made+=("$name")
  ip -n "$name" link set lo up
  ip -n "${ns}hub" link add "$port" type veth peer name eth0 netns "$name"
  ip -n "${ns}hub" link set "$port" master br0 up
  ip -n "$name" addr add "$2/24" dev eth0
  ip -n "$name" link set eth0 up
  [ "$3" = 0 ] && return 0
  # Out of the node, and out of the bridge towards it.
  tc -n "$name" qdisc add dev eth0 root tbf rate "$3mbit" burst 128k latency 60ms
  tc -n "${ns}hub" qdisc add dev "$port" root tbf rate "$3mbit" burst 128k latency 60ms
}

network_up() {
  ip netns add "${ns}hub" && made+=("${ns}hub") || return 1
  ip -n "${ns}hub" link add br0 type bridge && ip -n "${ns}hub" link set br0 up || return 1
  local i
  attach reg $registry_address "$mbit" || return 1
  attach mgr 10.77.0.3 0 || return 1
  for i in $(seq "$nodes"); do attach "$i" "$(address_of "$i")" "$mbit" || return 1; done
}

network_down() {
  local name
  for name in ${made[@]+"${made[@]}"}; do ip netns del "$name" 2>/dev/null || true; done
}

# Bytes that left the registry's interface so far.
registry_bytes() {
  ip -n "${ns}reg" -j -s link show eth0 |
    /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["tx"]["bytes"])'
}
