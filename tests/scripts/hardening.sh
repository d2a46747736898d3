#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the library is linked.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
plain_build_only
need_library

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
has() { if grep -qE "$2" <<<"$3"; then ok "$1"; else bad "$1: not found"; fi; }
hasnt() { if grep -qE "$2" <<<"$3"; then bad "$1: $(grep -m 1 -E "$2" <<<"$3")"; else ok "$1"; fi; }
has "RELRO" 'GNU_RELRO' "$segments"
has "all symbols bound at load time" 'FLAGS.*\bNOW\b' "$dynamic"
has "never unmapped" 'FLAGS_1.*\bNODELETE\b' "$dynamic"
has "soname libaistation.so.0.1" 'SONAME.*\[libaistation\.so\.0\.1\]' "$dynamic"
hasnt "no text relocations" 'TEXTREL' "$dynamic"
hasnt "no search path inside" 'R(UN)?PATH' "$dynamic"
has "stack not executable" 'GNU_STACK .* RW +0x' "$segments"
hasnt "no segment is writable and executable" 'LOAD .* RWE ' "$segments"
# (Debian's start files lack the mark that would show in the notes of the library.)
if [ "$(uname -m)" = x86_64 ]; then
  has "control-flow protection" 'endbr64' "$(objdump -d --no-show-raw-insn --disassemble=aist_version "$library")"
fi
has "stack protector" '__stack_chk_fail' "$(nm -D "$library")"
hasnt "full protobuf is not linked" 'NEEDED.*\[libprotobuf\.so' "$dynamic"
if grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt"; then
  has "fortified calls" '__(mem|str|read|pread|vsn?printf|snprintf|fprintf)[a-z]*_chk' "$(nm -D "$library")"
else
  echo "skip fortified calls: only release builds have them"
fi
# A path of the build machine in the binary makes builds differ.
if strings -a "$library" | grep -qF "$root/src"; then bad "no path of the build machine: $(strings -a "$library" | grep -m 1 -F "$root/src")"; else ok "no path of the build machine"; fi
finish
