// SPDX-License-Identifier: Apache-2.0
// Plain HTTP over loopback: small requests on a kept connection, and large bodies.
#include <benchmark/benchmark.h>

#include "net/http_client.h"
#include "net/http_server.h"
#include "util/strings.h"

namespace aistation::net {
namespace {

void BM_Fetch(benchmark::State& state) {
  const std::string body(static_cast<size_t>(state.range(0)), 'x');
  const auto server = HttpServer::Start({}, [&body](const ServerRequest&, Responder& r) {
    return r.Send(200, "application/octet-stream", body);
  });
  HttpClient client;
  util::OpControl control;
  HttpRequest request;
  request.use_proxy = false;
  request.url = util::StrCat("http://127.0.0.1:", (*server)->port(), "/");
  for (auto _ : state) {
    const auto response = client.Fetch(request, control);
    if (!response.ok()) state.SkipWithError("the request failed");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Fetch)->Arg(16)->Arg(4 << 20)->UseRealTime();

void BM_ParseRange(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseRange("bytes=1048576-2097151", 1u << 30));
}
BENCHMARK(BM_ParseRange);

}  // namespace
}  // namespace aistation::net
