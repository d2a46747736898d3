#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Names objects that do something when the library is loaded.

usage: initialisers.py OBJECT…

Two things of headers are let pass: the stream initialiser of <iostream>, which protobuf's headers
include, and in src/net the thread key and service ids of Boost.Asio (docs/adr/0009). Everything else
that an initialiser calls or touches is named.
"""
import re
import subprocess
import sys

HARMLESS = re.compile(r"^(_ZNSt8ios_base4Init[CD]1Ev|__cxa_atexit|__dso_handle|_ZStL8__ioinit|\.bss\b.*|"
                      r"_ZG?V?N5boost\w+|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|_Z41__static_initialization_and_destruction_0ii)([-+]0x[0-9a-f]+)?$")


def touched(path):
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    if not re.search(r" \.(init_array|ctors)", sections):
        return set()
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    names, inside = set(), False
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(.+)>:", line)
        if head:
            inside = head.group(1).startswith(("_GLOBAL__sub_I_", "_Z41__static_initialization_and_destruction"))
        match = re.search(r"R_\S+\s+(\S+)", line)
        if inside and match:
            names.add(match.group(1))
    return {n for n in names if not HARMLESS.match(n) and not n.startswith(".text")} or (
        set() if names else {"an initialiser that could not be read"})


def main():
    failed = False
    for path in sys.argv[1:]:
        names = touched(path)
        if names:
            failed = True
            print("%s: %s" % (path.split("/src/")[-1], ", ".join(sorted(names)[:4])))
    return 1 if failed else 0


sys.exit(main())
