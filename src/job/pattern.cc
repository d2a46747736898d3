// SPDX-License-Identifier: Apache-2.0
#include "job/pattern.h"

#include "util/strings.h"

namespace aistation::job {
namespace {

constexpr size_t kMaxPattern = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsPciChar(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

size_t SpanOf(std::string_view line, size_t position, bool (*accept)(char)) {
  size_t n = 0;
  while (position + n < line.size() && accept(line[position + n])) ++n;
  return n;
}

}  // namespace

std::string NormalPci(std::string_view text) {
  while (!text.empty() && (text.back() == ':' || text.back() == '.')) text.remove_suffix(1);
  text = text.substr(0, text.find('.'));
  std::string out = util::AsciiLower(text);
  const auto parts = util::Split(out, ':');
  if (parts.size() == 2) out = "0000:" + out;
  if (parts.size() != 2 && parts.size() != 3) return "";
  for (const auto part : parts) {
    if (part.empty() || part.size() > 8) return "";
  }
  // Some drivers print eight digits of domain.
  const size_t colon = out.find(':');
  if (colon > 4) out = out.substr(colon - 4);
  return out;
}

absl::StatusOr<Pattern> Pattern::Compile(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return util::InvalidArgument("job.pattern",
                                 util::StrCat("pattern \"", util::Excerpt(text), "\": ", why));
  };
  if (text.empty() || text.size() > kMaxPattern) return bad("expected 1 to 1,000 bytes");
  Pattern out;
  const auto literal = [&out](char c) {
    if (out.tokens_.empty() || out.tokens_.back().kind != Kind::kLiteral) {
      out.tokens_.push_back({Kind::kLiteral, ""});
    }
    out.tokens_.back().text.push_back(c);
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      if (!out.tokens_.empty() && out.tokens_.back().kind == Kind::kAny) continue;
      out.tokens_.push_back({Kind::kAny, ""});
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      if (end == std::string_view::npos) return bad("'{' without '}'");
      const std::string_view name = text.substr(i + 1, end - i - 1);
      Kind kind;
      if (name == "pci") {
        kind = Kind::kPci;
      } else if (name == "n") {
        kind = Kind::kNumber;
      } else if (name == "word") {
        kind = Kind::kWord;
      } else {
        return bad("expected {pci}, {n} or {word}");
      }
      out.tokens_.push_back({kind, ""});
      i = end;
    } else {
      literal(text[i]);
    }
  }
  return out;
}

bool Pattern::MatchAt(std::string_view line, size_t position, Captures* captures) const {
  bool any = false;  // a '*' stands before this token
  for (const Token& token : tokens_) {
    if (token.kind == Kind::kAny) {
      any = true;
      continue;
    }
    if (token.kind == Kind::kLiteral) {
      const size_t at =
          any ? line.find(token.text, position)
              : (line.substr(position, token.text.size()) == token.text ? position
                                                                        : std::string_view::npos);
      if (at == std::string_view::npos) return false;
      position = at + token.text.size();
      any = false;
      continue;
    }
    const auto accept =
        token.kind == Kind::kPci
            ? +[](char c) { return IsPciChar(c); }
            : (token.kind == Kind::kNumber ? +[](char c) { return IsDigit(c); }
                                           : +[](char c) { return c != ' ' && c != '\t'; });
    while (any && position < line.size() && !accept(line[position])) ++position;
    any = false;
    const size_t n = SpanOf(line, position, accept);
    if (n == 0 || n > 64) return false;
    const std::string_view value = line.substr(position, n);
    position += n;
    if (token.kind == Kind::kPci) {
      if (NormalPci(value).empty()) return false;
      captures->pci = std::string(value);
      // The address may run into the text's own colon: "GPU 0000:3b:00.0: ...".
      while (!captures->pci.empty() && captures->pci.back() == ':') {
        captures->pci.pop_back();
        --position;
      }
    } else if (token.kind == Kind::kNumber) {
      captures->number = util::ParseInt<int64_t>(value);
      if (!captures->number.has_value()) return false;
    } else {
      captures->word = std::string(value);
    }
  }
  return true;
}

std::optional<Captures> Pattern::Find(std::string_view line) const {
  const bool literal_first = !tokens_.empty() && tokens_.front().kind == Kind::kLiteral;
  for (size_t start = 0; start <= line.size(); ++start) {
    if (literal_first) {
      start = line.find(tokens_.front().text, start);
      if (start == std::string_view::npos) return std::nullopt;
    }
    Captures captures;
    if (MatchAt(line, start, &captures)) return captures;
  }
  return std::nullopt;
}

}  // namespace aistation::job
