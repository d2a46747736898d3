# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run: every libFuzzer target with its corpus, as many at once as there are cores.

# One target; its result goes to a file of its own, since several run at once.
fuzz_one() {
  local name=$1 seconds=$2 program=$3 corpus=tests/fuzz/corpus/$1 log=$work/log.fuzz.$1 code=0
  mkdir -p "$work/fuzz/$name"
  local seeds=()
  [ -d "$corpus" ] && seeds=("$corpus")
  # New inputs go to the first directory, which is thrown away.
  within $((seconds + 60)) nice "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=1 \
    -artifact_prefix="$work/fuzz/$name." "$work/fuzz/$name" ${seeds[@]+"${seeds[@]}"} >"$log" 2>&1 </dev/null || code=$?
  if [ $code = 0 ] && [ ${#seeds[@]} = 0 ]; then
    printf 'failed\tfuzz\t%s\tit has no corpus in %s\n' "$name" "$corpus" >"$log.result"
  elif [ $code = 0 ]; then
    printf 'passed\tfuzz\t%s\t\n' "$name" >"$log.result"
  else
    mkdir -p build/fuzz-artifacts
    cp "$work/fuzz/$name."* build/fuzz-artifacts/ 2>/dev/null
    printf 'failed\tfuzz\t%s\t%s\n' "$name" \
      "$(grep -m 1 -E 'ERROR|SUMMARY|runtime error' "$log" | tr '\t' ' ' || echo "exit code $code"); input in build/fuzz-artifacts" >"$log.result"
  fi
}

run_fuzzers() {
  local source name names=() directory=$root/build/fuzz seconds=30 share start=$SECONDS running=0 from
  compgen -G 'tests/fuzz/*_fuzz.cc' >/dev/null || { suite_missing fuzz "tests/fuzz has no targets"; return; }
  for source in tests/fuzz/*_fuzz.cc; do
    name=$(basename "$source" _fuzz.cc)
    selected "fuzz/$name" && names+=("$name")
  done
  [ ${#names[@]} -gt 0 ] || return 0
  if [ $do_build = 1 ]; then
    configure_and_build fuzz fuzz "$directory" "${names[@]/#/fuzz_}" || true
  fi
  from=$(lines)
  [ "$quick" = 1 ] && seconds=2
  # Not past the end of the run: then each target gets its share, and the output says so.
  share=$((($(left) - 30) * cores / ${#names[@]}))
  if [ "$share" -lt "$seconds" ]; then
    seconds=$((share > 1 ? share : 1))
    say "   fuzz: $seconds s for each target, for want of time"
  fi
  for name in "${names[@]}"; do
    if [ ! -x "$directory/fuzz/fuzz_$name" ]; then
      record failed fuzz "$name" "fuzz_$name is not built"
      continue
    fi
    if [ $running -ge "$cores" ]; then
      wait -n
      running=$((running - 1))
    fi
    fuzz_one "$name" "$seconds" "$directory/fuzz/fuzz_$name" &
    running=$((running + 1))
  done
  wait
  cat "$work"/log.fuzz.*.result >>"$results" 2>/dev/null
  say "   fuzz: $(counts "$from"), $seconds s each, $((SECONDS - start)) s"
  for name in "${names[@]}"; do
    grep -q '^failed' "$work/log.fuzz.$name.result" 2>/dev/null && sed 's/^/     | /' "$work/log.fuzz.$name" | tail -30
  done
}
