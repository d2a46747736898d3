#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: exit.sh PROGRAM ROUNDS
bad=0
for i in $(seq "$2"); do
  timeout 20 "$1" || { bad=$((bad + 1)); code=$?; }
done
if [ $bad = 0 ]; then echo "ok exit() with threads at work, $2 times"; else echo "FAIL exit() with threads at work: $bad of $2 times, code ${code:-?}"; exit 1; fi
