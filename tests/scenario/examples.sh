#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The short programs in C, C++, Python and Java run and plan the same 16 cards.
. "$(dirname "${BASH_SOURCE[0]}")/lib/setup.bash"

cluster=$root/examples/data/cluster.json
export AISTATION_LIBRARY=$build/libaistation.so
sanitized=$(sed -n 's/^AISTATION_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
named() { # WHAT: two nodes are in the output of the last program
  if [ "$(grep -oE 'node1[1-4]' "$work/out" | sort -u | wc -l)" -ge 2 ]; then ok "$1 places on two nodes"; else bad "$1 places on two nodes: $(head -c 200 "$work/out")"; fi
}
expect_code "C" 0 "$bin/plan_c" "$cluster"
named C
expect_code "C++" 0 "$bin/plan_cpp" "$cluster"
named C++
if [ -n "$sanitized" ]; then
  echo "skip Python and Java: a sanitized library cannot be loaded by an interpreter that is not"
  finish_scenario
fi
expect_code "Python" 0 env PYTHONPATH="$root/bindings/python/src" PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 "$root/examples/python/plan.py" "$cluster"
named Python
java=$(compgen -G '/usr/lib/jvm/java-17-openjdk-*/bin/java' | head -1)
jar=$build/bindings/java
if [ -z "$java" ]; then
  echo "skip Java: Java 17 is not installed"
elif [ ! -f "$jar/aistation.jar" ]; then
  bad "Java: $jar/aistation.jar is not built"
else
  expect_code "Java" 0 "$java" -cp "$jar/aistation.jar" -Dorg.aistation.library="$jar/libaistation_jni.so" \
    "$root/examples/java/Plan.java" "$cluster"
  named Java
fi
expect_code "C without arguments" 2 "$bin/plan_c"
finish_scenario
