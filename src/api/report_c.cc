// SPDX-License-Identifier: Apache-2.0
// include/aistation/report.h
#include "aistation/report.h"

#include "api/objects.h"
#include "api/options.h"
#include "report/report.h"

using aistation::api::Guard;
using aistation::api::ToString;
namespace report = aistation::report;
namespace wire = aistation::wire;

extern "C" {

aist_status aist_report_build(aist_context* ctx, aist_store* store, const aist_report_opts* opts,
                              aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_report_build";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, store);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    if (o.kind > AIST_REPORT_PROTOBUF) {
      return aistation::util::InvalidArgument(
          "report.kind", aistation::util::StrCat(kFunction, ": kind ", o.kind, " is not known"));
    }
    report::Options options;
    options.from_unix_ns = o.from_unix_ns;
    options.to_unix_ns = o.to_unix_ns;
    AIST_ASSIGN_OR_RETURN(options.job, ToString(kFunction, "job", o.job));
    AIST_ASSIGN_OR_RETURN(std::string title, ToString(kFunction, "title", o.title));
    if (title.empty()) title = "aistation report";
    AIST_ASSIGN_OR_RETURN(const auto built,
                          report::Build(*store->object, options, *ctx->core->clock));
    switch (o.kind) {
      case AIST_REPORT_JSON:
        *out = aistation::api::MakeDocument(ctx->core, wire::Format::kJson, built);
        break;
      case AIST_REPORT_PROTOBUF:
        *out = aistation::api::MakeDocument(ctx->core, wire::Format::kProtobuf, built);
        break;
      case AIST_REPORT_CSV:
        *out = aistation::api::MakeBytes(ctx->core, report::ToCsv(built));
        break;
      default:
        *out = aistation::api::MakeBytes(ctx->core, report::ToHtml(built, title));
    }
    return absl::OkStatus();
  });
}

}  // extern "C"
