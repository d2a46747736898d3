#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python's C++ protobuf and the library in one process: both orders of import, both ways to load.
# usage: python.sh LIBRARY DIRECTORY
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failed=0
generated=$AIST_EMBED_WORK/python
mkdir -p "$generated"
protoc --proto_path="$here/../../include" --python_out="$generated" \
  "$here"/../../include/aistation/v1/{inventory,placement}.proto || { echo "FAIL protoc: it could not generate"; exit 1; }
for order in library-first protobuf-first; do
  for mode in local global; do
    if output=$(PYTHONPATH=$generated PYTHONDONTWRITEBYTECODE=1 PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=cpp \
      timeout 60 /usr/bin/python3 "$here/python/both.py" "$1" $order $mode 2>&1); then
      echo "ok $order, $mode"
    else
      echo "FAIL $order, $mode: $(tail -n 2 <<<"$output" | tr '\n' ' ')"
      failed=1
    fi
  done
done
exit $failed
