#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library exports exactly the functions of the headers, and its own objects do nothing at load time.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
plain_build_only
need_library

wanted=$(/usr/bin/python3 cmake/abi_spec.py list include/aistation | sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
[ "$(wc -l <<<"$wanted")" -gt 100 ] && ok "the headers have functions" || bad "the headers have functions: $(wc -l <<<"$wanted")"
missing=$(comm -23 <(echo "$wanted") <(echo "$exported"))
extra=$(comm -13 <(echo "$wanted") <(echo "$exported"))
if [ -z "$missing" ]; then ok "every function is exported"; else bad "every function is exported: not ${missing//$'\n'/ }"; fi
if [ -z "$extra" ]; then ok "nothing else is exported"; else bad "nothing else is exported: $(head -5 <<<"$extra" | tr '\n' ' ')"; fi
versioned=$(nm -D --defined-only "$library" | grep -c '@@AISTATION_0\.1$')
if [ "$versioned" = "$(wc -l <<<"$wanted")" ]; then ok "all carry the version AISTATION_0.1"; else bad "all carry the version AISTATION_0.1: $versioned do"; fi
weak=$(nm -D "$library" | awk '$(NF-1) == "u"')
if [ -z "$weak" ]; then ok "no GNU_UNIQUE symbols"; else bad "no GNU_UNIQUE symbols: $(head -3 <<<"$weak")"; fi

# Objects of our own with work at load time; generated protobuf code has some by nature. Without
# optimisation the compiler leaves calls in them that do nothing.
if grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt"; then
  early=$(find "$build/src" -name '*.o' -not -name '*.pb.cc.o' -print0 |
    xargs -0 -r -n 20 -P "$(nproc)" /usr/bin/python3 tests/scripts/lib/initialisers.py)
  if [ -z "$early" ]; then ok "no static initialisers"; else bad "no static initialisers: $(head -6 <<<"$early" | tr '\n' ' ')"; fi
else
  echo "skip no static initialisers: only release builds are looked at"
fi
finish
