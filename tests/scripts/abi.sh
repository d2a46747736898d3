#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library against the stored baseline of its interface.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
plain_build_only
need_library
baseline=tests/abi/libaistation.abi
[ -f $baseline ] || { bad "baseline: $baseline is not there; make it with tests/abi/update"; finish; }
command -v abidiff >/dev/null || skip_all "abidiff is not installed: apt-get install abigail-tools"

now=$(mktemp "${TMPDIR:-/tmp}/abi.XXXXXX")
trap 'rm -f "$now"' EXIT
expect "the interface can be read" bash tests/abi/update --output "$now"
expect "nothing was removed or changed since the baseline" \
  abidiff --suppressions tests/abi/suppressions.ini "$baseline" "$now"
# Additions need an update of the baseline, so that the next removal is seen.
added=$(diff <(grep -o "elf-symbol name='aist_[a-z0-9_]*'" $baseline | sort) <(grep -o "elf-symbol name='aist_[a-z0-9_]*'" "$now" | sort) | grep '^[<>]')
if [ -z "$added" ]; then ok "the baseline lists the same functions"; else bad "the baseline lists the same functions: ${added//$'\n'/ }; run tests/abi/update"; fi
finish
