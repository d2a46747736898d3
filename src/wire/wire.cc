// SPDX-License-Identifier: Apache-2.0
#include "wire/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

namespace aistation::wire::internal {

std::string SerializeDeterministic(const google::protobuf::MessageLite& message) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&coded);
  coded.Trim();
  return out;
}

absl::Status ParseProtobuf(std::string_view bytes, std::string_view source,
                           google::protobuf::MessageLite* out) {
  if (bytes.size() > kMaxDocumentBytes) {
    return util::InvalidArgument(
        "protobuf.too_large",
        util::StrCat(source, ": larger than ", util::FormatBytes(kMaxDocumentBytes)));
  }
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(64);
  if (!out->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return util::InvalidArgument(
        "protobuf.syntax", util::StrCat(source, ": not a valid ", out->GetTypeName(), " message"));
  }
  return absl::OkStatus();
}

}  // namespace aistation::wire::internal
