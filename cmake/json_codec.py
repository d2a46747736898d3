#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the strict JSON codec of the protobuf-lite messages (lite has no JSON of its own).

usage: json_codec.py DESCRIPTOR_SET OUTPUT_DIRECTORY

JSON form: field names as in the .proto files; enums by name (a number is read too); 64-bit integers
as numbers (strings of digits are read too); bytes in base64; maps as objects. All scalar and
repeated fields are written, also when they have their default; sub-messages only when set.
"""
import sys

from google.protobuf import descriptor_pb2

F = descriptor_pb2.FieldDescriptorProto
SCALARS = {  # type: (C++ type, reader, writer)
    F.TYPE_STRING: ("std::string", "ReadString", "String"),
    F.TYPE_BYTES: ("std::string", "ReadBytes", "Bytes"),
    F.TYPE_BOOL: ("bool", "ReadBool", "Bool"),
    F.TYPE_INT32: ("int32_t", "ReadInt<int32_t>", "Int"),
    F.TYPE_INT64: ("int64_t", "ReadInt<int64_t>", "Int"),
    F.TYPE_UINT32: ("uint32_t", "ReadInt<uint32_t>", "Uint"),
    F.TYPE_UINT64: ("uint64_t", "ReadInt<uint64_t>", "Uint"),
    F.TYPE_DOUBLE: ("double", "ReadDouble", "Double"),
}


def cpp(type_name: str) -> str:
    return "v1::" + type_name.rsplit(".", 1)[1]


class Message:
    def __init__(self, proto):
        self.name = proto.name
        self.proto = proto
        self.maps = {n.name: n for n in proto.nested_type if n.options.map_entry}
        extra = [n.name for n in proto.nested_type if not n.options.map_entry]
        if extra or proto.enum_type or proto.oneof_decl:
            sys.exit("json_codec.py: %s: nested types and oneof are not supported" % proto.name)

    def map_of(self, field):
        return self.maps.get(field.type_name.rsplit(".", 1)[-1]) if field.type == F.TYPE_MESSAGE else None


def write_value(field, expr, key):
    if field.type == F.TYPE_MESSAGE:
        return "WriteJson(w, %s);" % expr
    if field.type == F.TYPE_ENUM:
        return "WriteEnum(w, %s, %s_Name(%s));" % (expr, cpp(field.type_name), expr)
    if field.type == F.TYPE_BYTES:
        return "w.String(util::Base64Encode(%s));" % expr
    if field.type not in SCALARS:
        sys.exit("json_codec.py: %s: type not supported" % key)
    return "w.%s(%s);" % (SCALARS[field.type][2], expr)


def emit_write(m):
    out = ["void WriteJson(util::JsonWriter& w, const v1::%s& m) {" % m.name, "  w.BeginObject();"]
    for f in m.proto.field:
        entry = m.map_of(f)
        key = '  w.Key("%s");' % f.name
        if entry:
            value = entry.field[1]
            is_text = entry.field[0].type == F.TYPE_STRING
            out += [key, "  w.BeginObject();",
                    "  for (const auto& entry : Sorted(m.%s())) {" % f.name,
                    "    w.Key(%s);" % ("entry->first" if is_text else "util::StrCat(entry->first)"),
                    "    " + write_value(value, "entry->second", f.name), "  }", "  w.EndObject();"]
        elif f.label == F.LABEL_REPEATED:
            out += [key, "  w.BeginArray();",
                    "  for (int i = 0; i < m.%s_size(); ++i) {" % f.name,
                    "    " + write_value(f, "m.%s(i)" % f.name, f.name), "  }", "  w.EndArray();"]
        elif f.type == F.TYPE_MESSAGE:
            out += ["  if (m.has_%s()) {" % f.name, "  " + key,
                    "    " + write_value(f, "m.%s()" % f.name, f.name), "  }"]
        else:
            out += [key, "  " + write_value(f, "m.%s()" % f.name, f.name)]
    return out + ["  w.EndObject();", "}", ""]


def read_into(field, json, path, target_message, setter):
    """Statements that read `json` and hand it over through `setter` (a format with one %s)."""
    if field.type == F.TYPE_MESSAGE:
        return ["AIST_RETURN_IF_ERROR(ReadJson(%s, %s, %s));" % (json, path, target_message)]
    if field.type == F.TYPE_ENUM:
        t = cpp(field.type_name)
        return ["int number = 0;",
                "AIST_RETURN_IF_ERROR(ReadEnum(%s, %s, [](const std::string& n, int* v) {" % (json, path),
                "  v1::%s e;" % t[4:],
                "  if (!v1::%s_Parse(n, &e)) return false;" % t[4:],
                "  *v = e;", "  return true;", "}, &number));",
                setter % ("static_cast<%s>(number)" % t)]
    ctype, reader, _ = SCALARS[field.type]
    return ["%s value{};" % ctype, "AIST_RETURN_IF_ERROR(%s(%s, %s, &value));" % (reader, json, path),
            setter % "std::move(value)"]


def emit_read(m):
    out = ["absl::Status ReadJson(const Json& json, const Path& path, v1::%s* m) {" % m.name,
           "  AIST_RETURN_IF_ERROR(ExpectObject(json, path));",
           "  for (const auto& item : json.items()) {",
           "    const std::string& key = item.key();",
           "    const Json& j = item.value();",
           "    const Path at{&path, key};",
           "    if (j.is_null()) continue;"]
    word = "    if"
    for f in m.proto.field:
        out.append('%s (key == "%s") {' % (word, f.name))
        word = "    } else if"
        entry = m.map_of(f)
        if entry:
            k, v = entry.field
            out += ["      AIST_RETURN_IF_ERROR(ExpectObject(j, at));", "      for (const auto& kv : j.items()) {",
                    "        const Path here{&at, kv.key()};"]
            if k.type == F.TYPE_STRING:
                out.append("        const std::string& name = kv.key();")
            else:
                out += ["        %s name{};" % SCALARS[k.type][0],
                        "        AIST_RETURN_IF_ERROR(ReadKey(kv.key(), here, &name));"]
            out += ["        " + s for s in read_into(v, "kv.value()", "here", "&(*m->mutable_%s())[name]" % f.name,
                                                       "(*m->mutable_%s())[name] = %%s;" % f.name)]
            out.append("      }")
        elif f.label == F.LABEL_REPEATED:
            out += ["      AIST_RETURN_IF_ERROR(ExpectArray(j, at));", "      for (size_t i = 0; i < j.size(); ++i) {",
                    "        const Path here{&at, i};"]
            out += ["        " + s for s in read_into(f, "j[i]", "here", "m->add_%s()" % f.name,
                                                       "m->add_%s(%%s);" % f.name)]
            out.append("      }")
        else:
            out += ["      " + s for s in read_into(f, "j", "at", "m->mutable_%s()" % f.name,
                                                     "m->set_%s(%%s);" % f.name)]
    known = ", ".join(f.name for f in m.proto.field)
    if not m.proto.field:
        out.append("    {")
    else:
        out.append("    } else {")
    out += ['      return UnknownField(path, key, "%s");' % known, "    }", "  }",
            "  return absl::OkStatus();", "}", ""]
    return out


def main():
    descriptors = descriptor_pb2.FileDescriptorSet()
    with open(sys.argv[1], "rb") as f:
        descriptors.ParseFromString(f.read())
    messages = [Message(m) for file in descriptors.file for m in file.message_type]
    includes = ['#include "%s"' % file.name.replace(".proto", ".pb.h") for file in descriptors.file]
    head = ["// Generated by cmake/json_codec.py.", "#pragma once", ""] + includes + [
        '#include "util/json_writer.h"', "", "namespace aistation::wire {", ""]
    head += ["void WriteJson(util::JsonWriter& w, const v1::%s& m);" % m.name for m in messages]
    head += ["", "}  // namespace aistation::wire", ""]
    body = ["// Generated by cmake/json_codec.py.", '#include "wire/wire.h"', "",
            '#include "wire/json_reader.h"', "", "namespace aistation::wire {", "",
            "using namespace internal;  // readers", ""]
    body += ["static absl::Status ReadJson(const Json& json, const Path& path, v1::%s* m);" % m.name for m in messages]
    body.append("")
    for m in messages:
        body += emit_write(m) + emit_read(m)
    for m in messages:
        body += ["template <>", "absl::StatusOr<v1::%s> FromJson<v1::%s>(std::string_view text, std::string_view source) {"
                 % (m.name, m.name), "  AIST_ASSIGN_OR_RETURN(const Json json, ParseJson(text, source));",
                 "  v1::%s m;" % m.name, "  AIST_RETURN_IF_ERROR(ReadJson(json, Path{nullptr, source}, &m));",
                 "  return m;", "}"]
    body += ["", "}  // namespace aistation::wire", ""]
    for name, lines in (("messages.h", head), ("messages.cc", body)):
        with open(sys.argv[2] + "/" + name, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))


if __name__ == "__main__":
    main()
