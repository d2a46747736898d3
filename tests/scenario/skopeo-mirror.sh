#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An agent pulls from Debian's docker-registry; then skopeo pulls from the agent's mirror, with the
# registry stopped, and gets the same bytes.
. "$(dirname "${BASH_SOURCE[0]}")/lib/setup.bash"
need docker-registry skopeo openssl

make_ca
make_cert manager DNS:manager
start_registry "$work/storage"
size=$(small_image 12)
push_image "$work/layout:1" bank/small:1
lines=$(wc -l <"$work/registry.log")
/usr/bin/python3 "$root/examples/lib/make_cluster.py" "$work/cluster"
start_agent 11
start_agent 12
await_agent 11
await_agent 12
members="--member node11=127.0.0.11:${agent_port[11]} --member node12=127.0.0.12:${agent_port[12]}"
# shellcheck disable=SC2046,SC2086
expect_code "two agents pull" 0 "$bin/aistation" pull "$registry/bank/small:1" $members $(tls_of manager) --quiet
sent=$(blob_bytes "$lines")
if [ "$sent" = "$size" ]; then ok "registry read once: $sent bytes"; else bad "registry sent $sent bytes for an image of $size"; fi
kill "$registry_pid"
wait_for 10 "end of the registry" bash -c "! kill -0 $registry_pid"
for n in 11 12; do
  expect_code "skopeo pulls from the mirror of node$n" 0 skopeo copy --preserve-digests --src-tls-verify=false \
    "docker://127.0.0.1:${mirror_port[$n]}/bank/small:1" "oci:$work/copy$n:1"
  expect "the same blobs" bash -c "cd '$work/layout/blobs/sha256' && for b in *; do cmp \$b '$work/copy$n/blobs/sha256/'\$b; done"
done
expect_code "a repository that is not there" 1 skopeo inspect --tls-verify=false \
  "docker://127.0.0.1:${mirror_port[11]}/bank/other:1"
# The peer port asks for a certificate.
if curl -sk --max-time 5 "https://127.0.0.11:${agent_port[11]}/v2/" >/dev/null 2>&1; then
  bad "the peer port serves strangers"
else
  ok "the peer port turns strangers away"
fi
finish_scenario
