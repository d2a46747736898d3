#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs into a directory, then builds and runs programs against what is installed: find_package and
# pkg-config, C and C++.
# usage: install.sh BUILD_DIRECTORY
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$AIST_EMBED_WORK
prefix=$work/prefix
failures=0
expect() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $what"; else echo "FAIL $what: $(tail -n 4 <<<"$output" | tr '\n' ' ')"; failures=$((failures + 1)); fi
}
sanitize=$(sed -n 's/^AISTATION_SANITIZE:STRING=//p' "$1/CMakeCache.txt")
[ -z "$sanitize" ] || { echo "skipped: the build has sanitizers, which a plain host does not load"; exit 77; }

expect "cmake --install" cmake --install "$1" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name 'libaistation.so' | head -1)")
for file in include/aistation/aistation.h include/aistation/v1/job.proto share/aistation/catalogue/cards.jsonc; do
  expect "$file is installed" test -f "$prefix/$file"
done
expect "the library has its soname" test -e "$libdir/libaistation.so.0.1"
expect "configure a project with find_package" cmake -G Ninja -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix"
expect "build it" cmake --build "$work/consumer"
expect "run it as C" "$work/consumer/consumer_c" "$root/examples/data/cluster.json"
expect "run it as C++" "$work/consumer/consumer_cpp" "$root/examples/data/cluster.json"

export PKG_CONFIG_PATH=$libdir/pkgconfig
expect "pkg-config knows the version" pkg-config --atleast-version=0.1 aistation
flags=$(pkg-config --cflags --libs aistation)
# shellcheck disable=SC2086
expect "pkg-config, C99 with gcc" gcc -std=c99 -Wall -Wextra -Werror "$here/consumer/consumer.c" -o "$work/c" $flags
# shellcheck disable=SC2086
expect "pkg-config, C++20 with g++" g++ -std=c++20 -Wall -Wextra -Werror "$here/consumer/consumer.cc" -o "$work/cc" $flags
export LD_LIBRARY_PATH=$libdir
expect "run them" bash -c "'$work/c' '$root/examples/data/cluster.json' && '$work/cc' '$root/examples/data/cluster.json'"
# The defaults travel inside the library: a copy of the file alone does.
mkdir -p "$work/alone"
cp -L "$libdir/libaistation.so.0.1" "$work/alone/"
expect "the library file alone works" env LD_LIBRARY_PATH="$work/alone" "$work/c" "$root/examples/data/cluster.json"
if [ -x "$prefix/bin/aistation" ]; then expect "the installed command line tool runs" "$prefix/bin/aistation" version; fi
[ $failures = 0 ]
