// SPDX-License-Identifier: Apache-2.0
// The same documents under a locale with a decimal comma as under "C".
#include <clocale>
#include <locale>
#include <map>

#include "host.h"

namespace {

std::map<std::string, std::string> Documents(const std::string& tag, std::string* problem) {
  std::map<std::string, std::string> documents;
  host::TourOptions options;
  options.tag = tag;
  options.document = [&](const std::string& name, const std::string& text) {
    documents[name] = text;
  };
  *problem = host::Tour(options);
  return documents;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::string problem;
  const auto plain = Documents("plain", &problem);
  host::Check(problem.empty(), "the tour under C", problem);
  if (std::setlocale(LC_ALL, argv[1]) == nullptr) {
    std::printf("skipped: locale %s is not there\n", argv[1]);
    return 77;
  }
  std::locale::global(std::locale(argv[1]));
  char number[32];
  std::snprintf(number, sizeof(number), "%.1f", 1.5);
  host::Check(std::string(number) == "1,5", "this process uses a comma", number);
  const auto comma = Documents("comma", &problem);
  host::Check(problem.empty(), std::string("the tour under ") + argv[1], problem);
  for (const auto& [name, text] : plain) {
    const auto other = comma.find(name);
    host::Check(other != comma.end() && other->second == text,
                "the document " + name + " is the same");
  }
  const std::string metrics = comma.count("metrics") ? comma.at("metrics") : "";
  host::Check(
      metrics.find("1234.5") != std::string::npos && metrics.find("0.125") != std::string::npos,
      "numbers with points");
  host::Check(std::string(std::setlocale(LC_NUMERIC, nullptr)) == argv[1],
              "the locale is left alone");
  return host::Finish();
}
