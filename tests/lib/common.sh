# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run: time, selection, and where results go. $results has one line for each test:
# passed|failed|skipped <tab> suite <tab> name <tab> reason

cores=$(nproc)
began=$SECONDS

say() { printf '%s\n' "$*"; }
elapsed() { echo $((SECONDS - began)); }
# Seconds that are left of --minutes, at least 1.
left() {
  local s=$((minutes * 60 - SECONDS + began))
  echo $((s > 1 ? s : 1))
}

# selected SUITE/NAME
selected() { [ -z "$only" ] || [[ $1 =~ $only ]]; }
# Is there anything of this suite to run? With --only a missing suite is no failure.
suite_missing() {
  [ -n "$only" ] || record failed "$1" "$1" "$2"
}

record() { # STATE SUITE NAME [REASON]
  local reason=${4:-}
  reason=${reason//$'\n'/ }
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${reason//$'\t'/ }" >>"$results"
}

# counts FROM: how the lines of $results after number FROM went
counts() {
  tail -n "+$(($1 + 1))" "$results" | awk -F '\t' '
    { n[$1]++ }
    END { printf "%d passed", n["passed"]
          if (n["failed"]) printf ", %d FAILED", n["failed"]
          if (n["skipped"]) printf ", %d skipped", n["skipped"] }'
}
lines() { wc -l <"$results"; }

# suite NAME FUNCTION: runs it and says how it went and how long it took
suite() {
  local from start=$SECONDS
  from=$(lines)
  "$2"
  [ "$(lines)" = "$from" ] || say "== $1: $(counts "$from"), $((SECONDS - start)) s"
}

# within LIMIT COMMAND…: at most LIMIT seconds and not past the end of the whole run. What hangs is
# killed with its children (timeout puts them in a group). In the background, so that Ctrl-C ends the
# run at once and not after the program.
running=
within() {
  local limit=$1 most
  shift
  most=$(left)
  timeout -k 5 "$((limit < most ? limit : most))" "$@" &
  running=$!
  wait "$running"
}
# For the EXIT trap: ends what still runs.
stop_running() {
  local pid
  for pid in $running $(jobs -p); do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
}

# report SUITE NAME FROM START LOG: the line of one program; its output when something failed
report() {
  local text
  text=$(counts "$3")
  say "   $1/$2: $text, $((SECONDS - $4)) s"
  case $text in *FAILED*) sed 's/^/     | /' "$5" | grep -v '^     | \[ *\(OK\|RUN\) *\]' | tail -40 ;; esac
}

# run_lines SUITE NAME LIMIT COMMAND…: a program that prints "ok WHAT" and "FAIL WHAT" lines and
# ends with 77 when this machine cannot run it (the reason on its last line)
run_lines() {
  local suite=$1 name=$2 limit=$3 from start=$SECONDS log code=0
  shift 3
  selected "$suite/$name" || return 0
  from=$(lines)
  log=$work/log.$suite.$name
  within "$limit" "$@" >"$log" 2>&1 </dev/null || code=$?
  /usr/bin/python3 "$root/tests/lib/results.py" lines "$suite" "$name" "$code" "$log" >>"$results"
  report "$suite" "$name" "$from" "$start" "$log"
}

# take_junit SUITE NAME CODE LOG FILE…: the results of a program that wrote JUnit XML
take_junit() {
  /usr/bin/python3 "$root/tests/lib/results.py" junit "$@" >>"$results"
}
