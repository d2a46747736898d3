#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Size of files, licence lines, READMEs, calls that are not allowed.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
sources | /usr/bin/python3 tests/scripts/lib/style.py || failures=1
finish
