# SPDX-License-Identifier: Apache-2.0
# Sourced by run: the same bytes by BitTorrent, everybody knows everybody, one seeder at the registry.

run_torrent() {
  local i began peers="$registry_address" client=$here/torrent.py first=${#pids[@]}
  for i in $(seq "$nodes"); do peers="$peers,$(address_of "$i")"; done
  /usr/bin/python3 "$client" make "$work/layout" "$work/image.torrent" "$chunk"
  start seeder ip netns exec "${ns}reg" /usr/bin/python3 "$client" seed "$work/image.torrent" "$work" $registry_address "$peers"
  wait_for 30 "the seeder" test -e "$work/torrent-ready"
  began=$(now)
  for i in $(seq "$nodes"); do
    mkdir -p "$work/torrent$i"
    start "leech$i" ip netns exec "$ns$i" /usr/bin/python3 "$client" leech "$work/image.torrent" "$work/torrent$i" "$(address_of "$i")" "$peers"
  done
  # Whoever is done goes on seeding until all are.
  for i in $(seq "$nodes"); do wait_for 900 "torrent on node $i" test -e "$work/torrent$i/done"; done
  torrent=$(since "$began")
  for pid in "${pids[@]:$first}"; do kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
  pids=("${pids[@]:0:$first}")
  rm -rf "$work"/torrent[0-9]*
}
