#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Includes and targets point down the layers.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
/usr/bin/python3 tests/scripts/lib/layers.py src || failures=1
finish
