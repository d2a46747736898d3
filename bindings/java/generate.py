#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from the headers: Native.java with native.cc, and Documents.java.

usage: generate.py native OUT_DIRECTORY | documents OUT_DIRECTORY PROTOSET

Called by the build. Each C function becomes one static method of Native: handles are long, text and
documents byte[], integers long; an option struct is spread over its fields; the first out parameter is
the result, further integers go into a long[].
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Written by hand in native/by_hand.cc, or not needed from Java.
BY_HAND = {"aist_context_create", "aist_op_progress", "aist_dataset_stat", "aist_dataset_read", "aist_version_string"}
LEFT_OUT = re.compile(r"aist_error_|aist_bytes_|aist_status_name|aist_op_fd|.*_init$")


def spec():
    out = subprocess.run([sys.executable, os.path.join(ROOT, "cmake", "abi_spec.py"), "json",
                          os.path.join(ROOT, "include", "aistation")], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def camel(name):
    parts = name.split("_")
    return parts[0] + "".join(p.capitalize() for p in parts[1:])


class Function:
    """One function: Java parameters, C++ statements before the call, C arguments, result."""

    def __init__(self, s, f):
        self.s, self.f = s, f
        self.java, self.cpp, self.signature = [], [], []
        self.before, self.arguments, self.after = [], [], []
        self.result, self.extra_out = None, 0
        parameters = list(f["parameters"])
        self.fallible = f["result"] == "aist_status" and parameters and parameters[-1]["type"] == "aist_error **"
        if self.fallible:
            parameters = parameters[:-1]
        while parameters:
            self.take(parameters)

    def add(self, java, jni, signature, name):
        self.java.append("%s %s" % (java, camel(name)))
        self.cpp.append("%s %s" % (jni, name))
        self.signature.append(signature)

    def take(self, parameters):
        p = parameters.pop(0)
        kind, name = p["type"].replace("const ", "").strip(), p["name"]
        stars, base = kind.count("*"), kind.replace("*", "").strip()
        if stars and base in ("char", "void"):
            parameters.pop(0)  # its length
            self.add("byte[]", "jbyteArray", "[B", name)
            self.before.append("const Bytes %s_bytes(env, %s);" % (name, name))
            self.arguments += ["%s_bytes.data()" % name, "%s_bytes.size()" % name]
        elif stars == 2:
            self.before.append("%s* %s_out = nullptr;" % (base, name))
            self.arguments.append("&%s_out" % name)
            self.out("byte[]" if base == "aist_bytes" else "long", "%s_out" % name)
        elif stars == 1 and base in self.s["structs"]:
            self.struct(p, base, name)
        elif stars == 1 and base in self.s["opaque"]:
            self.add("long", "jlong", "J", name)
            self.arguments.append("Handle<%s>(%s)" % (base, name))
        elif stars == 1:
            self.before.append("%s %s_out = 0;" % (base, name))
            self.arguments.append("&%s_out" % name)
            self.out("scalar", "%s_out" % name)
        elif stars == 0:
            java, jni, sig = ("double", "jdouble", "D") if base == "double" else ("long", "jlong", "J")
            self.add(java, jni, sig, name)
            self.arguments.append("static_cast<%s>(%s)" % (base, name))
        else:
            raise SystemExit("%s: parameter %s" % (self.f["name"], p))

    def out(self, kind, variable):
        if self.result is None:
            self.result = (kind, variable)
        else:
            self.add("long[]", "jlongArray", "[J", "out%d" % self.extra_out)
            self.after.append("SetLong(env, out%d, static_cast<jlong>(%s));" % (self.extra_out, variable))
            self.extra_out += 1

    def struct(self, p, base, name):
        self.before.append("%s %s = %s_INIT;" % (base, "s_" + name, base.upper()))
        if "const" in p["type"]:
            for field in self.s["structs"][base]:
                if field["name"] in ("struct_size", "version", "reserved"):
                    continue
                self.field(name, field)
            self.arguments.append("&s_%s" % name)
            return
        # An out struct: its integers in order.
        self.arguments.append("&s_%s" % name)
        fields = [f["name"] for f in self.s["structs"][base] if f["name"] not in ("struct_size", "version")]
        self.result = ("longs", ["s_%s.%s" % (name, f) for f in fields])

    def field(self, name, field):
        kind = field["type"].replace("const ", "").strip()
        target = "s_%s.%s" % (name, field["name"])
        variable = "%s_%s" % (name, field["name"])
        if kind == "aist_str":
            self.add("byte[]", "jbyteArray", "[B", variable)
            self.before.append("const Bytes %s_bytes(env, %s);" % (variable, variable))
            self.before.append("%s = {%s_bytes.data(), %s_bytes.size()};" % (target, variable, variable))
        elif "*" in kind:
            self.add("long", "jlong", "J", variable)
            self.before.append("%s = Handle<%s>(%s);" % (target, kind.replace("*", "").strip(), variable))
        else:
            self.add("long", "jlong", "J", variable)
            self.before.append("%s = static_cast<%s>(%s);" % (target, kind, variable))

    def java_type(self):
        if not self.fallible:
            return {"void": "void"}.get(self.f["result"], "long")
        kind = self.result[0] if self.result else "void"
        return {"scalar": "long", "longs": "long[]"}.get(kind, kind)

    def jni(self):
        return {"void": ("void", "V"), "long": ("jlong", "J"), "byte[]": ("jbyteArray", "[B"),
                "long[]": ("jlongArray", "[J")}[self.java_type()]

    def body(self):
        call = "%s(%s" % (self.f["name"], ", ".join(self.arguments))
        lines = list(self.before)
        if not self.fallible:
            lines.append(call + ");" if self.f["result"] == "void" else "return static_cast<jlong>(%s));" % call)
            return lines
        empty = "" if self.java_type() == "void" else " {}"
        lines.append("aist_error* error = nullptr;")
        lines.append("if (const aist_status status = %s%s&error); status != AIST_OK) {" % (call, ", " if self.arguments else ""))
        lines.append("  Throw(env, status, error);\n    return%s;\n  }" % empty)
        lines += self.after
        if self.result and self.result[0] == "byte[]":
            lines.append("return Take(env, %s);" % self.result[1])
        elif self.result and self.result[0] == "longs":
            lines.append("return Longs(env, {%s});" % ", ".join("static_cast<jlong>(%s)" % v for v in self.result[1]))
        elif self.result and self.result[0] == "long":
            lines.append("return reinterpret_cast<jlong>(%s);" % self.result[1])
        elif self.result:
            lines.append("return static_cast<jlong>(%s);" % self.result[1])
        return lines


def write_native(out):
    s = spec()
    functions = [Function(s, f) for f in s["functions"] if f["name"] not in BY_HAND and not LEFT_OUT.match(f["name"])]
    with open(os.path.join(out, "Native.java"), "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: Apache-2.0\n// Generated by bindings/java/generate.py.\npackage org.aistation;\n\n"
                   "/** The C interface as it is; see its headers. */\nfinal class Native {\n  private Native() {}\n\n"
                   "  static {\n    NativeLoader.load();\n  }\n\n"
                   "  static native long contextCreate(byte[] name, LogHook log, long level, long maxThreads, long deadlineNs);\n"
                   "  static native Object[] opProgress(long op);\n  static native Object[] datasetStat(long dataset, long index);\n"
                   "  static native long datasetRead(long dataset, long index, long offset, byte[] buffer, int from, int size);\n"
                   "  static native byte[] versionString();\n")
        for f in functions:
            file.write("  static native %s %s(%s);\n" % (f.java_type(), camel(f.f["name"][5:]), ", ".join(f.java)))
        file.write("}\n")
    with open(os.path.join(out, "native.cc"), "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: Apache-2.0\n// Generated by bindings/java/generate.py.\n#include \"glue.h\"\n\n"
                   "namespace aistation_jni {\nnamespace {\n")
        for f in functions:
            unused = "" if f.before or f.fallible or f.after else "[[maybe_unused]] "
            file.write("\n%s JNICALL %s(%sJNIEnv* env, jclass%s) {\n  %s\n}\n" % (
                f.jni()[0], camel(f.f["name"][5:]), unused, "".join(", " + c for c in f.cpp), "\n  ".join(f.body())))
        file.write("\n}  // namespace\n\nbool RegisterGenerated(JNIEnv* env, jclass native) {\n  const JNINativeMethod methods[] = {\n")
        for f in functions:
            name = camel(f.f["name"][5:])
            file.write('      Method("%s", "(%s)%s", reinterpret_cast<void*>(%s)),\n' % (name, "".join(f.signature), f.jni()[1], name))
        file.write("  };\n  return env->RegisterNatives(native, methods, sizeof(methods) / sizeof(methods[0])) == 0;\n}\n\n"
                   "}  // namespace aistation_jni\n")


JAVA_WORDS = {"from", "package", "class", "default", "new", "record"} - {"from"}


def short(name):
    return name.rsplit(".", 1)[-1]


def scalar(f):
    return {1: "double", 2: "double", 8: "boolean", 9: "String", 12: "byte[]", 5: "int", 13: "int"}.get(f.type, "long")


def boxed(kind):
    return {"double": "Double", "boolean": "Boolean", "int": "Integer", "long": "Long"}.get(kind, kind)


def read(kind, f, value):
    if f.type == 11:
        return "%s.from(Json.object(%s))" % (short(f.type_name), value)
    if f.type == 14:
        return "%s.of(%s)" % (short(f.type_name), value)
    return {"double": "Json.number(%s)", "boolean": "Json.bool(%s)", "String": "Json.text(%s)", "byte[]": "Json.bytes(%s)",
            "int": "(int) Json.integer(%s)", "long": "Json.integer(%s)"}[kind] % value


def record(m):
    entries = {n.name: n for n in m.nested_type if n.options.map_entry}
    components, reads, puts = [], [], []
    for f in m.field:
        name = camel(f.name) + ("_" if f.name in JAVA_WORDS else "")
        get = 'm.get("%s")' % f.name
        if f.type == 11 and short(f.type_name) in entries:
            value = entries[short(f.type_name)].field[1]
            kind = short(value.type_name) if value.type in (11, 14) else boxed(scalar(value))
            components.append("Map<String, %s> %s" % (kind, name))
            reads.append("Json.map(%s, v -> %s)" % (get, read(scalar(value), value, "v")))
        elif f.label == 3:
            kind = short(f.type_name) if f.type in (11, 14) else boxed(scalar(f))
            components.append("List<%s> %s" % (kind, name))
            reads.append("Json.list(%s, v -> %s)" % (get, read(scalar(f), f, "v")))
        elif f.type == 11:
            components.append("%s %s" % (short(f.type_name), name))
            reads.append("%s == null ? null : %s" % (get, read("", f, get)))
        else:
            kind = short(f.type_name) if f.type == 14 else scalar(f)
            components.append("%s %s" % (kind, name))
            reads.append(read(kind, f, get))
        unsigned = f.type in (4, 6) and f.label != 3
        puts.append('Json.put(m, "%s", %s);' % (f.name, "Json.unsigned(%s)" % name if unsigned else name))
    return ("\n  /** See %s in include/aistation/v1. */\n  public record %s(%s) implements Document {\n"
            "    public static %s from(Map<String, Object> m) {\n      return new %s(%s);\n    }\n"
            "    public static %s fromJson(String json) {\n      return from(Json.object(Json.parse(json)));\n    }\n"
            "    @Override\n    public Map<String, Object> toMap() {\n      Map<String, Object> m = new LinkedHashMap<>();\n      %s\n"
            "      return m;\n    }\n  }\n") % (m.name, m.name, ", ".join(components), m.name, m.name, ", ".join(reads), m.name,
                                               "\n      ".join(puts))


def enum(e):
    prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", e.name).upper() + "_"
    names = [(v.name[len(prefix):] if v.name.startswith(prefix) else v.name, v.number) for v in e.value]
    return ("\n  public enum %s implements DocumentEnum {\n    %s;\n    private final int number;\n    %s(int number) {\n      this.number = number;\n    }\n"
            "    @Override\n    public int number() {\n      return number;\n    }\n"
            "    static %s of(Object value) {\n      return Json.choice(values(), \"%s\", value);\n    }\n  }\n") % (
        e.name, ", ".join("%s(%d)" % n for n in names), e.name, e.name, prefix)


def write_documents(out, protoset):
    from google.protobuf import descriptor_pb2
    files = descriptor_pb2.FileDescriptorSet()
    with open(protoset, "rb") as file:
        files.ParseFromString(file.read())
    with open(os.path.join(out, "Documents.java"), "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: Apache-2.0\n// Generated by bindings/java/generate.py.\npackage org.aistation;\n\n"
                   "import java.util.LinkedHashMap;\nimport java.util.List;\nimport java.util.Map;\n\n"
                   "/** Documents of the interface; fields that this version does not know are left out. uint64 is long: use its unsigned methods. */\n"
                   "public final class Documents {\n  private Documents() {}\n")
        for f in files.file:
            for e in f.enum_type:
                file.write(enum(e))
            for m in f.message_type:
                file.write(record(m))
        file.write("}\n")


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    if sys.argv[1] == "native":
        write_native(sys.argv[2])
    else:
        write_documents(sys.argv[2], sys.argv[3])
