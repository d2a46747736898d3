# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run: builds the preset, and the fuzz targets with their own.

# configure_and_build NAME PRESET DIRECTORY [TARGET…]
configure_and_build() {
  local name=$1 preset_name=$2 directory=$3 log=$work/log.build.$1 code=0 start=$SECONDS
  shift 3
  cmake --preset "$preset_name" -B "$directory" >"$log" 2>&1 ||
    { tail -30 "$log"; record failed build "$name" "cmake failed"; return 1; }
  # -k 0: what can be built is tested although something else does not build.
  within 1300 nice cmake --build "$directory" -j"$cores" ${1:+--target "$@"} -- -k 0 >>"$log" 2>&1 || code=$?
  if [ $code = 0 ]; then
    record passed build "$name"
    say "   build/$name: $((SECONDS - start)) s"
    return 0
  fi
  grep -E 'error|FAILED|undefined' "$log" | head -40
  record failed build "$name" "$([ $code = 124 ] && echo 'not built in time' || grep -m 1 -E 'error:|error ' "$log" | cut -c 1-200)"
  return 1
}

build_all() { configure_and_build "$preset" "$preset" "$build" || true; }
