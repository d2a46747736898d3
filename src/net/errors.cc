// SPDX-License-Identifier: Apache-2.0
// Errors of the library as HTTP answers, and back.
#include <nlohmann/json.hpp>

#include "net/http_server.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::net {

int HttpStatus(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kDeadlineExceeded:
      return 408;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kFailedPrecondition:
      return 412;
    case absl::StatusCode::kOutOfRange:
      return 416;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

namespace {

absl::StatusCode CodeOf(int http_status) {
  switch (http_status) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 405:
      return absl::StatusCode::kUnimplemented;
    case 408:
      return absl::StatusCode::kDeadlineExceeded;
    case 409:
      return absl::StatusCode::kAborted;
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 416:
      return absl::StatusCode::kOutOfRange;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    default:
      return http_status >= 500 ? absl::StatusCode::kUnavailable : absl::StatusCode::kUnknown;
  }
}

}  // namespace

absl::Status ErrorFromResponse(const HttpResponse& response, std::string_view what) {
  const auto json = nlohmann::json::parse(response.body, nullptr, false);
  if (json.is_object() && json.contains("code") && json["code"].is_number_integer() &&
      json.contains("reason") && json["reason"].is_string() && json.contains("message") &&
      json["message"].is_string()) {
    const int code = json["code"].get<int>();
    if (code > 0 && code <= 16) {
      return util::Error(static_cast<absl::StatusCode>(code), json["reason"].get<std::string>(),
                         util::StrCat(what, ": ", json["message"].get<std::string>()));
    }
  }
  return util::Error(CodeOf(response.status), "net.http_status",
                     util::StrCat(what, ": HTTP status ", response.status, ": ",
                                  util::Excerpt(util::ToValidUtf8(response.body), 200)));
}

std::string ServerRequest::Query(std::string_view name) const {
  for (const std::string_view part : util::Split(query, '&')) {
    const size_t equals = part.find('=');
    const auto key = PercentDecode(part.substr(0, equals));
    if (!key.ok() || *key != name) continue;
    if (equals == std::string_view::npos) return "";
    auto value = PercentDecode(part.substr(equals + 1));
    return value.ok() ? *value : "";
  }
  return "";
}

absl::Status Responder::Send(int status, std::string_view content_type, std::string_view body,
                             Headers headers) {
  if (!content_type.empty()) headers.emplace_back("Content-Type", std::string(content_type));
  AIST_RETURN_IF_ERROR(Start(status, headers, body.size()));
  return body.empty() ? absl::OkStatus() : Write(body);
}

}  // namespace aistation::net
