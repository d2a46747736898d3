#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# C and C++ are formatted with clang-format 14; other versions format a little differently.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
format=$(command -v clang-format-14) || skip_all "clang-format-14 is not installed: apt-get install clang-format-14"

check() { # NAME GREP_PATTERN
  local wrong
  wrong=$(sources | grep -E "$2" | xargs -r -d '\n' -P "$(nproc)" -n 8 "$format" --dry-run 2>&1 | grep -oE '^[^ :]+:[0-9]+:[0-9]+: (warning|error)' | cut -d: -f1,2 | sort -t: -u -k1,1)
  if [ -z "$wrong" ]; then ok "$1"; else bad "$1: $(head -8 <<<"$wrong" | tr '\n' ' ')"; fi
}
# The C headers are set by hand.
check include/cpp '^include/.*\.hpp$'
for folder in src tests/unit tests/embed tests/fuzz examples bench bindings; do
  [ -d $folder ] && check "$folder" "^$folder/.*\.(h|hpp|c|cc)$"
done
finish
