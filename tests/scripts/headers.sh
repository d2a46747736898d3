#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each C header compiles alone, as C99 and as C++20, with gcc and clang, without a warning.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

clang=$(command -v clang-14 || command -v clang) || bad "clang: not installed"
warnings="-fsyntax-only -Iinclude -Wall -Wextra -Wpedantic -Wshadow -Wpadded -Werror"
alone() { # HEADER LANGUAGE STANDARD COMPILER…
  local header=$1 language=$2 standard=$3
  shift 3
  # Twice: the guard works.
  # shellcheck disable=SC2086
  printf '#include "%s"\n#include "%s"\ntypedef int nothing_else;\n' "$header" "$header" |
    "$@" -x "$language" -std="$standard" $warnings -
}
for path in include/aistation/*.h; do
  header=${path#include/}
  expect "$header with gcc as C99" alone "$header" c c99 gcc
  expect "$header with gcc as C++20" alone "$header" c++ c++20 g++
  expect "$header with clang as C99" alone "$header" c c99 "$clang"
  expect "$header with clang as C++20" alone "$header" c++ c++20 "$clang"
done
for path in include/aistation/cpp/*.hpp; do
  [ -f "$path" ] || continue
  expect "${path#include/} with gcc as C++20" alone "${path#include/}" c++ c++20 g++
  expect "${path#include/} with clang as C++20" alone "${path#include/}" c++ c++20 "$clang"
done
foreign=$(grep -lE '#include *[<"](absl|google|boost|nlohmann)/' -r include --include='*.h' --include='*.hpp')
if [ -z "$foreign" ]; then ok "no header of another library"; else bad "no header of another library: $foreign"; fi
finish
