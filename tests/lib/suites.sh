# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run: one function for each suite but fuzz.

sanitized() { [ "$preset" = asan-ubsan ] || [ "$preset" = tsan ]; }

run_scripts() {
  local script name
  for script in tests/scripts/*.sh; do
    [ -f "$script" ] || { suite_missing scripts "tests/scripts has no scripts"; return; }
    name=$(basename "$script" .sh)
    run_lines scripts "$name" 300 bash "$script"
  done
}

run_units() {
  local directory name program log from start code
  for directory in tests/unit/*/; do
    name=$(basename "$directory")
    compgen -G "$directory*_test.cc" >/dev/null || continue
    selected "unit/$name" || continue
    program=$build/tests/unit_$name
    [ -x "$program" ] || program=$build/unit_$name
    [ -x "$program" ] || { record failed unit "$name" "unit_$name is not built"; continue; }
    log=$work/log.unit.$name from=$(lines) start=$SECONDS code=0
    within 300 "$program" --gtest_output="xml:$work/unit.$name.xml" >"$log" 2>&1 </dev/null || code=$?
    take_junit unit "$name" "$code" "$log" "$work/unit.$name.xml"
    report unit "$name" "$from" "$start" "$log"
  done
  compgen -G 'tests/unit/*/*_test.cc' >/dev/null || suite_missing unit "tests/unit has no tests"
}

run_embed() {
  local line name command
  [ -f "$build/tests/embed/list" ] || { suite_missing embed "tests/embed is not built"; return; }
  # NAME<tab>COMMAND, written by tests/embed/CMakeLists.txt
  while IFS=$'\t' read -r name command; do
    # shellcheck disable=SC2086
    run_lines embed "$name" 240 bash -c "$command"
  done <"$build/tests/embed/list"
}

run_python() {
  local log=$work/log.python from start=$SECONDS code=0 file name
  compgen -G 'bindings/python/tests/test_*.py' >/dev/null || { suite_missing python "bindings/python has no tests"; return; }
  for file in bindings/python/tests/test_*.py; do
    name=$(basename "$file" .py)
    selected "python/$name" || continue
    if sanitized; then
      record skipped python "$name" "a sanitized library cannot be loaded by an interpreter that is not"
      continue
    fi
    from=$(lines) start=$SECONDS code=0
    PYTHONPATH=$root/bindings/python:$root/bindings/python/src PYTHONDONTWRITEBYTECODE=1 within 240 \
      /usr/bin/python3 -m pytest -q -p no:cacheprovider --junit-xml="$work/python.$name.xml" "$file" \
      >"$log.$name" 2>&1 </dev/null || code=$?
    take_junit python "$name" "$code" "$log.$name" "$work/python.$name.xml"
    report python "$name" "$from" "$start" "$log.$name"
  done
}

run_java() {
  local log=$work/log.java from start=$SECONDS code=0 marker=$work/java.marker reports
  selected java/junit || return 0
  [ -f bindings/java/CMakeLists.txt ] || { suite_missing java "bindings/java is not there"; return; }
  if sanitized || [ "$preset" = coverage ]; then
    record skipped java junit "the Java binding is not built with preset $preset"
    return
  fi
  from=$(lines)
  touch "$marker"
  within 300 ctest --test-dir "$build" -R '^java' --no-tests=error --output-on-failure >"$log" 2>&1 </dev/null || code=$?
  mapfile -t reports < <(find "$build" -path '*java*' -name 'TEST-*.xml' -newer "$marker")
  take_junit java junit "$code" "$log" ${reports[@]+"${reports[@]}"}
  report java junit "$from" "$start" "$log"
}

run_scenarios() {
  local script
  for script in tests/scenario/*.sh; do
    [ -f "$script" ] || { suite_missing scenario "tests/scenario has no scripts"; return; }
    run_lines scenario "$(basename "$script" .sh)" 300 bash "$script"
  done
}
