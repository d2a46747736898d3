#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An agent is killed with -9 in the middle of a pull, started again, and goes on where it was.
. "$(dirname "${BASH_SOURCE[0]}")/lib/setup.bash"
need docker-registry skopeo openssl

make_ca
make_cert manager DNS:manager
start_registry "$work/storage"
size=$(small_image 64)
push_image "$work/layout:1" bank/small:1
lines=$(wc -l <"$work/registry.log")
/usr/bin/python3 "$root/examples/lib/make_cluster.py" "$work/cluster"
start_agent 11 --source-rate 160 --chunk 1M
await_agent 11
member="--member node11=127.0.0.11:${agent_port[11]}"
# shellcheck disable=SC2046,SC2086
"$bin/aistation" pull "$registry/bank/small:1" $member $(tls_of manager) --quiet >"$work/first" 2>&1 &
pull=$!
sleep 1.6
kill -9 "${agent_pid[11]}"
wait "$pull" && bad "the pull succeeded without its agent" || ok "the pull fails when its agent dies"
before=$(blob_bytes "$lines")
if [ "$before" -lt "$size" ]; then ok "killed in the middle ($before of $size bytes)"; else bad "killed too late"; fi
start_agent 11 --port "${agent_port[11]}" --chunk 1M
await_agent 11
# shellcheck disable=SC2046,SC2086
expect_code "the pull succeeds after the restart" 0 "$bin/aistation" pull "$registry/bank/small:1" $member $(tls_of manager) --quiet
sent=$(blob_bytes "$lines")
# What was under way at the moment of death may be read again.
most=$((size + 24 * 1048576))
if [ "$sent" -le "$most" ]; then ok "registry bytes $sent of at most $most"; else bad "registry bytes $sent, more than $most"; fi
expect_code "skopeo gets the image from the mirror" 0 skopeo copy --preserve-digests --src-tls-verify=false \
  "docker://127.0.0.1:${mirror_port[11]}/bank/small:1" "oci:$work/copy:1"
expect "the bytes are right" bash -c "cd '$work/layout/blobs/sha256' && for b in *; do cmp \$b '$work/copy/blobs/sha256/'\$b; done"
finish_scenario
