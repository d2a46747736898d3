#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the C headers, strictly, and writes what must agree with them.

usage: abi_spec.py list|map|inits|json|ctypes HEADER_DIRECTORY

  list    names of all functions, one a line
  map     linker version script: exactly these functions
  inits   C++ definitions of aist_X_init(), from the AIST_X_INIT macros
  json    functions, structs, enums, constants, opaque types
  ctypes  the Python module of prototypes (bindings/python/aistation/_abi.py)

A declaration that is not in the form of these headers is an error, never left out.
"""
import glob
import json
import os
import re
import sys

SCALARS = {
    "size_t": "c_size_t", "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16",
    "uint16_t": "c_uint16", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
    "uint64_t": "c_uint64", "double": "c_double", "aist_status": "c_int32",
    "aist_format": "c_uint32", "int": "c_int",
}


def fail(path, text):
    raise SystemExit("%s: cannot read: %s" % (path, " ".join(text.split())[:120]))


def strip(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = text.replace("\\\n", " ")
    return re.sub(r'extern "C" \{|^#ifdef __cplusplus\n\}\n#endif', "", text, flags=re.M)


class Spec:
    def __init__(self, directory):
        self.functions, self.structs, self.enums = [], {}, {}
        self.constants, self.inits, self.opaque, self.callbacks = {}, {}, [], {}
        for path in sorted(glob.glob(os.path.join(directory, "*.h"))):
            with open(path, encoding="utf-8") as file:
                self.read(path, strip(file.read()))

    def read(self, path, text):
        lines = []
        for line in text.split("\n"):
            define = re.match(r"#define (\w+)\s+(.*)$", line)
            if define and define.group(1).endswith("_INIT"):
                self.inits[define.group(1)] = " ".join(define.group(2).split())
            elif define and re.fullmatch(r"-?\w+", define.group(2).strip()) and define.group(2)[0].isdigit():
                self.constants[define.group(1)] = int(define.group(2).strip().rstrip("uU"), 0)
            if not line.startswith("#"):
                lines.append(line)
        self.declarations(path, "\n".join(lines))

    def declarations(self, path, text):
        text = text.strip()
        while text:
            enum = re.match(r"enum\s*\{([^}]*)\}\s*;", text)
            struct = re.match(r"typedef struct (\w+)\s*\{([^}]*)\}\s*(\w+)\s*;", text)
            opaque = re.match(r"typedef struct (\w+) (\w+)\s*;", text)
            callback = re.match(r"typedef\s+([\w\s*]+?)\(\*(\w+)\)\(([^)]*)\)\s*;", text)
            alias = re.match(r"typedef (\w+) (\w+)\s*;", text)
            function = re.match(r"AIST_API\s+([\w\s*]+?)\s*\b(aist_\w+)\s*\(([^)]*)\)\s*;", text)
            match = enum or struct or opaque or callback or alias or function
            if not match:
                if text == "}":
                    return
                fail(path, text)
            if enum:
                self.read_enum(path, enum.group(1))
            elif struct:
                self.structs[struct.group(3)] = [self.field(path, f) for f in struct.group(2).split(";") if f.strip()]
            elif opaque:
                self.opaque.append(opaque.group(2))
            elif callback:
                self.callbacks[callback.group(2)] = {"result": callback.group(1).strip(), "parameters": self.parameters(path, callback.group(3))}
            elif function:
                self.functions.append({"name": function.group(2), "result": function.group(1).strip(), "header": os.path.basename(path),
                                       "parameters": self.parameters(path, function.group(3))})
            elif alias.group(2) not in SCALARS:
                fail(path, alias.group(0))
            text = text[match.end():].strip()

    def read_enum(self, path, body):
        for item in body.split(","):
            if not item.strip():
                continue
            match = re.fullmatch(r"(\w+)\s*=\s*(-?\w+)", item.strip())
            if not match:
                fail(path, item)
            self.enums[match.group(1)] = int(match.group(2), 0)

    def field(self, path, text):
        pointer = re.fullmatch(r"\s*([\w\s*]+?)\(\*(\w+)\)\(([^)]*)\)\s*", text)
        if pointer:
            return {"name": pointer.group(2), "type": "callback", "result": pointer.group(1).strip(),
                    "parameters": self.parameters(path, pointer.group(3))}
        match = re.fullmatch(r"\s*([\w\s]+?[\s*]+)(\w+)\s*(?:\[(\w+)\])?\s*", text)
        if not match:
            fail(path, text)
        out = {"name": match.group(2), "type": " ".join(match.group(1).split())}
        if match.group(3):
            out["count"] = int(match.group(3), 0)
        return out

    def parameters(self, path, text):
        out = []
        for item in text.split(","):
            item = " ".join(item.split())
            if item in ("void", ""):
                continue
            match = re.fullmatch(r"((?:const )?\w+(?: ?\*+)?)\s*?(\w*)", item) or re.fullmatch(r"((?:const )?\w+ \*+)(\w+)", item)
            if not match:
                fail(path, item)
            kind, name = match.group(1).strip(), match.group(2)
            if kind in ("const", "") or (name == "" and kind.count(" ") and "*" not in kind):
                kind, name = item.rsplit(" ", 1)
            out.append({"type": kind, "name": name})
        return out


def write_list(spec):
    for f in spec.functions:
        print(f["name"])


def write_map(spec):
    print("AISTATION_0.1 {\n  global:")
    for f in spec.functions:
        print("    %s;" % f["name"])
    print("  local:\n    *;\n};")


def write_inits(spec):
    print("// Generated by cmake/abi_spec.py from the headers.\n#include <algorithm>\n#include <cstring>\n")
    print('#include "aistation/aistation.h"\n\nnamespace {\n')
    print("template <class T>\nvoid Init(T* out, size_t size, T value) {\n"
          "  if (out == nullptr) return;\n"
          "  value.struct_size = size;\n"
          "  std::memset(static_cast<void*>(out), 0, size);\n"
          "  std::memcpy(static_cast<void*>(out), &value, std::min(size, sizeof(T)));\n}\n\n}  // namespace\n")
    print('extern "C" {\n')
    for f in spec.functions:
        if not f["name"].endswith("_init"):
            continue
        struct = f["name"][:-len("_init")]
        macro = struct.upper() + "_INIT"
        if macro not in spec.inits:
            raise SystemExit("%s: there is no %s" % (f["name"], macro))
        print("void %s(%s* out, size_t size) {\n  Init(out, size, %s%s);\n}\n" % (f["name"], struct, struct, macro_value(spec, macro)))
    print('}  // extern "C"')


def macro_value(spec, macro):
    value = spec.inits[macro].strip()
    return re.sub(r"sizeof\s*\(?(\w+)\)?", r"sizeof(\1)", value).replace("NULL", "nullptr")


def write_json(spec):
    json.dump({"functions": spec.functions, "structs": spec.structs, "enums": spec.enums, "constants": spec.constants,
               "opaque": spec.opaque, "callbacks": spec.callbacks}, sys.stdout, indent=1)
    print()


def ctype(spec, kind):
    kind = kind.replace("const ", "").strip()
    stars = kind.count("*")
    base = kind.replace("*", "").strip()
    if stars == 0:
        if base in SCALARS:
            return SCALARS[base]
        if base in spec.callbacks or base in spec.structs:
            return base
        raise SystemExit("no ctypes type for %s" % kind)
    if base == "char":
        inner = "c_char_p"
    elif base == "void" or base in spec.opaque:
        inner = "c_void_p"
    else:
        inner = "POINTER(%s)" % (base if base in spec.structs else SCALARS[base])
    for _ in range(stars - 1):
        inner = "POINTER(%s)" % inner
    return inner


def callback_type(spec, c):
    result = "None" if c["result"] == "void" else ctype(spec, c["result"])
    return "CFUNCTYPE(%s)" % ", ".join([result] + [ctype(spec, p["type"]) for p in c["parameters"]])


def order(spec):
    """Structs after those that they contain."""
    done = []

    def visit(name):
        if name in done:
            return
        for f in spec.structs[name]:
            inner = f["type"].replace("const ", "").replace("*", "").strip()
            if inner in spec.structs and inner != name:
                visit(inner)
        done.append(name)

    for name in spec.structs:
        visit(name)
    return done


def write_ctypes(spec):
    print('# SPDX-License-Identifier: Apache-2.0\n"""Prototypes of the C interface. Generated by cmake/abi_spec.py; do not edit."""')
    print("# mypy: ignore-errors\n# pylint: disable=all\nfrom ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t,\n"
          "                    c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)\n")
    for name, value in sorted({**spec.enums, **spec.constants}.items(), key=lambda item: item[0]):
        print("%s = %d" % (name, value))
    print()
    for name, c in spec.callbacks.items():
        print("%s = %s" % (name, callback_type(spec, c)))
    for name in order(spec):
        print("\n\nclass %s(Structure):\n    _fields_ = [" % name)
        for f in spec.structs[name]:
            kind = callback_type(spec, f) if f["type"] == "callback" else ("c_char" if f["type"] == "char" else ctype(spec, f["type"]))
            if f["name"] == "data" and name == "aist_str":
                kind = "c_char_p"
            print('        ("%s", %s%s),' % (f["name"], kind, " * %d" % f["count"] if "count" in f else ""))
        print("    ]")
    print("\n\nFUNCTIONS = {")
    for f in spec.functions:
        # Borrowed text of an error is copied at once; c_char_p does that.
        result = "None" if f["result"] == "void" else ctype(spec, f["result"])
        print('    "%s": (%s, [%s]),' % (f["name"], result, ", ".join(ctype(spec, p["type"]) for p in f["parameters"])))
    print("}\n\n\ndef declare(library):\n    for name, (result, parameters) in FUNCTIONS.items():\n"
          "        function = getattr(library, name)\n        function.restype = result\n        function.argtypes = parameters")


def main(argv):
    writers = {"list": write_list, "map": write_map, "inits": write_inits, "json": write_json, "ctypes": write_ctypes}
    if len(argv) != 3 or argv[1] not in writers:
        raise SystemExit(__doc__)
    spec = Spec(argv[2])
    if not spec.functions:
        raise SystemExit("%s: no functions found" % argv[2])
    writers[argv[1]](spec)


if __name__ == "__main__":
    main(sys.argv)
