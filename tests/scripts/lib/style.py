#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that look at the text of sources. Reads the names of files from standard input."""
import os
import re
import sys

CODE = (".h", ".hpp", ".c", ".cc", ".java", ".py", ".sh", ".bash", ".cmake", ".proto", ".jsonc")
MAX_LINES = 600
MAX_README_LINES = 40

# In src/: (what, pattern, why)
FORBIDDEN = [
    ("absl::Mutex", r"\babsl::(Mutex|CondVar)\b", "util/mutex.h, see docs/adr/0005"),
    ("strtod and the like", r"\b(strto(d|f|ld)|ato[fi]l?|sto[dfi]|stou?ll?|stold)\s*\(", "depends on the locale or throws: util/strings.h"),
    ("printf of floats", r'(?:printf|PRINTF)[^;]*"[^"]*%[-+ #0-9.*]*[aAeEfFgG]', "depends on the locale: util/strings.h"),
    ("isalpha and the like", r"\b(?:std::)?is(alpha|alnum|digit|space|upper|lower|punct|print|xdigit)\s*\(", "depends on the locale: util/strings.h"),
    ("setlocale, setenv, chdir, umask", r"\b(setlocale|setenv|putenv|unsetenv|chdir|umask)\s*\(", "belongs to the host"),
    ("output to the terminal", r"\bstd::(cout|cerr|clog)\b|\b(?:std::)?(printf|puts|perror|putchar)\s*\(|fprintf\s*\(\s*(stderr|stdout)", "a library does not write there: util/log.h"),
    ("system and popen", r"(?<![\w.>:])(system|popen)\s*\(", "runs a shell"),
    ("gets, strcpy and the like", r"\b(gets|strcpy|strcat|sprintf|vsprintf|tmpnam|mktemp)\s*\(", "no bound"),
    ("signal handlers and atexit", r"\b(sigaction|signal|atexit|std::atexit|at_quick_exit)\s*\(", "belongs to the host"),
    ("exit and abort", r"(?<![\w.>])(?:std::)?(exit|quick_exit|terminate)\s*\(\s*\w*\s*\)", "ends the host"),
    ("rand", r"\b(rand|srand|random|drand48)\s*\(\s*\)", "security/digest.h has random bytes"),
]
# Files that may, and why.
EXCUSED = {
    "src/job/spawn.cc": ("setlocale", "signal"),  # in the child, between fork and exec
}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def code_of(line):
    """The line without strings that are prose and without its comment."""
    return re.sub(r"//.*", "", line)


class Checks:
    def __init__(self):
        self.failed = False

    def say(self, what, wrong):
        self.failed |= bool(wrong)
        print("FAIL %s: %s" % (what, "; ".join(wrong[:12])) if wrong else "ok " + what)


def is_code(path, text):
    return path.endswith(CODE) or os.path.basename(path) == "CMakeLists.txt" or text.startswith("#!")


def check_forbidden(checks, sources):
    for what, pattern, why in FORBIDDEN:
        wrong = []
        for path, text in sources:
            if what.startswith(EXCUSED.get(path, ("-",))):
                continue
            if not path.startswith("src/") or not path.endswith((".h", ".cc")):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if re.search(pattern, code_of(line)):
                    wrong.append("%s:%d (%s)" % (path, number, why))
        checks.say("src has no %s" % what, wrong)


def main():
    paths = [p for p in sys.stdin.read().split("\n") if p and os.path.isfile(p)]
    texts = [(p, read(p)) for p in paths if not p.startswith(("tests/fuzz/corpus/", "tests/fixtures/"))]
    sources = [(p, t) for p, t in texts if is_code(p, t)]
    checks = Checks()
    checks.say("files have at most %d lines" % MAX_LINES,
               ["%s has %d" % (p, t.count("\n")) for p, t in sources if t.count("\n") > MAX_LINES])
    checks.say("every source has a licence line in its head",
               [p for p, t in sources if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(t.split("\n")[:3])])
    modules = sorted({p.split("/")[1] for p, _ in sources if p.startswith("src/") and p.count("/") > 1})
    known = dict(texts)
    readmes = ["src/%s/README.md" % m for m in modules]
    checks.say("every module has a README", [p for p in readmes if p not in known])
    checks.say("module READMEs have at most %d lines" % MAX_README_LINES,
               [p for p in readmes if known.get(p, "").count("\n") > MAX_README_LINES])
    checks.say("no tabs and no spaces at the end of lines in C++",
               ["%s:%d" % (p, n) for p, t in sources if p.endswith((".h", ".hpp", ".cc", ".c"))
                for n, line in enumerate(t.splitlines(), 1) if "\t" in line or line != line.rstrip()])
    links = [(p, m) for p, t in texts if p.endswith(".md") for m in re.findall(r"\]\(([^)#:\s]+)\)", t)]
    checks.say("links between documents lead somewhere",
               ["%s: %s" % (p, m) for p, m in links if not os.path.exists(os.path.join(os.path.dirname(p), m))])
    check_forbidden(checks, sources)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
