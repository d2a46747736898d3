#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Turns what test programs write into lines `state<tab>suite<tab>name<tab>reason`, and sums them up.

usage: results.py junit SUITE NAME EXIT_CODE LOG XML...
       results.py lines SUITE NAME EXIT_CODE LOG
       results.py summary TSV
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

TIME_OUT = (124, 137)


def emit(state, suite, name, reason=""):
    print("\t".join([state, suite, name, " ".join(reason.split())[:400]]))


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def how_it_ended(code, log):
    last = [line for line in read(log).splitlines() if line.strip()][-1:]
    what = "ran out of time" if code in TIME_OUT else "exit code %d" % code
    return what + (": " + last[0] if last else "")


def junit(suite, name, code, log, paths):
    failed = seen = 0
    for path in paths:
        try:
            tree = ElementTree.parse(path)
        except (OSError, ElementTree.ParseError):
            continue
        for case in tree.iter("testcase"):
            title = ".".join(filter(None, [case.get("classname", "").split(".")[-1], case.get("name", "?")]))
            title = name + ": " + title
            seen += 1
            problem = case.find("failure")
            problem = problem if problem is not None else case.find("error")
            skipped = case.find("skipped")
            if problem is not None:
                failed += 1
                emit("failed", suite, title, problem.get("message") or problem.text or "")
            elif skipped is not None:
                emit("skipped", suite, title, skipped.get("message") or skipped.text or "no reason given")
            elif case.get("status") == "notrun":
                emit("skipped", suite, title, "disabled")
            else:
                emit("passed", suite, title)
    if (code != 0 and failed == 0) or seen == 0:
        emit("failed", suite, name, how_it_ended(code, log) if code else "no test ran")


def lines(suite, name, code, log):
    failed = seen = 0
    for line in read(log).splitlines():
        match = re.match(r"(ok|FAIL|skip)\s+(.+)", line)
        if not match:
            continue
        seen += 1
        title = name + ": " + match.group(2)
        if match.group(1) == "FAIL":
            failed += 1
            what, _, reason = match.group(2).partition(": ")
            emit("failed", suite, name + ": " + what, reason)
        elif match.group(1) == "skip":
            what, _, reason = match.group(2).partition(": ")
            emit("skipped", suite, name + ": " + what, reason or "no reason given")
        else:
            emit("passed", suite, title)
    if code == 77:
        last = read(log).strip().splitlines()[-1:] or ["no reason given"]
        emit("skipped", suite, name, re.sub(r"^skipped: ", "", last[0]))
    elif code != 0 and failed == 0:
        emit("failed", suite, name, how_it_ended(code, log))
    elif code == 0 and seen == 0:
        emit("failed", suite, name, "it checked nothing")


def summary(path):
    rows = [line.split("\t") for line in read(path).splitlines()]
    rows = [row + [""] * (4 - len(row)) for row in rows]
    for state in ("skipped", "failed"):
        for _, suite, name, reason in (row for row in rows if row[0] == state):
            print("%s %s/%s%s" % (state, suite, name, ": " + reason if reason else ""))
    count = {state: sum(row[0] == state for row in rows) for state in ("passed", "failed", "skipped")}
    if not rows:
        print("nothing was run")
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % count)
    return 1 if count["failed"] or not rows else 0


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "summary":
        return summary(arguments[1])
    if len(arguments) >= 5 and arguments[0] == "junit":
        junit(arguments[1], arguments[2], int(arguments[3]), arguments[4], arguments[5:])
        return 0
    if len(arguments) == 5 and arguments[0] == "lines":
        lines(arguments[1], arguments[2], int(arguments[3]), arguments[4])
        return 0
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
