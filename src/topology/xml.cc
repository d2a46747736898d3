// SPDX-License-Identifier: Apache-2.0
#include "topology/xml.h"

#include "util/strings.h"

namespace aistation::topology {
namespace {

constexpr size_t kMaxBytes = 32u << 20;
constexpr size_t kMaxDepth = 128;
constexpr size_t kMaxElements = 200'000;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  absl::StatusOr<XmlElement> Run() {
    if (text_.size() > kMaxBytes) return Bad("at most 32 MiB");
    AIST_RETURN_IF_ERROR(SkipProlog());
    XmlElement root;
    AIST_RETURN_IF_ERROR(Element(&root, 0));
    AIST_RETURN_IF_ERROR(SkipMisc());
    if (at_ != text_.size()) return Bad("nothing after the root element");
    return root;
  }

 private:
  absl::Status Bad(std::string_view expected) const {
    return util::InvalidArgument("topology.xml",
                                 util::StrCat(source_, " line ", line_, ": expected ", expected));
  }
  bool At(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  void Advance(size_t n) {
    for (size_t end = std::min(at_ + n, text_.size()); at_ < end; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }
  void SkipBlank() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      Advance(1);
    }
  }
  absl::Status SkipTo(std::string_view end, std::string_view what) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return Bad(what);
    Advance(found + end.size() - at_);
    return absl::OkStatus();
  }
  absl::Status SkipMisc() {
    while (true) {
      SkipBlank();
      if (At("<!--")) {
        AIST_RETURN_IF_ERROR(SkipTo("-->", "the end of a comment"));
      } else if (At("<?")) {
        AIST_RETURN_IF_ERROR(SkipTo("?>", "\"?>\""));
      } else {
        return absl::OkStatus();
      }
    }
  }
  absl::Status SkipProlog() {
    AIST_RETURN_IF_ERROR(SkipMisc());
    if (At("<!DOCTYPE")) {
      const size_t end = text_.find('>', at_);
      if (end == std::string_view::npos) return Bad("the end of the DOCTYPE");
      // Definitions of entities could make a small file large.
      if (text_.substr(at_, end - at_).find('[') != std::string_view::npos) {
        return Bad("a DOCTYPE without definitions in it");
      }
      Advance(end + 1 - at_);
    }
    return SkipMisc();
  }
  absl::Status Name(std::string* out) {
    const size_t start = at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    if (at_ == start || at_ - start > 256) return Bad("a name");
    *out = std::string(text_.substr(start, at_ - start));
    return absl::OkStatus();
  }
  absl::Status Value(std::string* out) {
    SkipBlank();
    if (!At("=")) return Bad("'='");
    Advance(1);
    SkipBlank();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') return Bad("a quoted value");
    Advance(1);
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return Bad("the end of a value");
    AIST_RETURN_IF_ERROR(Unescape(text_.substr(at_, end - at_), out));
    Advance(end + 1 - at_);
    return absl::OkStatus();
  }
  absl::Status Unescape(std::string_view raw, std::string* out) const {
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '<') return Bad("no '<' inside a value");
      if (raw[i] != '&') {
        out->push_back(raw[i]);
        continue;
      }
      const size_t end = raw.find(';', i);
      const std::string_view entity =
          end == std::string_view::npos ? "" : raw.substr(i + 1, end - i - 1);
      if (entity == "lt") {
        out->push_back('<');
      } else if (entity == "gt") {
        out->push_back('>');
      } else if (entity == "amp") {
        out->push_back('&');
      } else if (entity == "quot") {
        out->push_back('"');
      } else if (entity == "apos") {
        out->push_back('\'');
      } else if (entity.substr(0, 1) == "#") {
        const bool hex = entity.substr(1, 1) == "x";
        const auto code = util::ParseInt<uint32_t>(entity.substr(hex ? 2 : 1), hex ? 16 : 10);
        if (!code.has_value() || *code == 0 || *code > 126)
          return Bad("an ASCII character reference");
        out->push_back(static_cast<char>(*code));
      } else {
        return Bad("one of &lt; &gt; &amp; &quot; &apos;");
      }
      i = end;
    }
    return absl::OkStatus();
  }
  absl::Status Element(XmlElement* element, size_t depth) {
    if (depth > kMaxDepth) return Bad("at most 128 levels");
    if (++elements_ > kMaxElements) return Bad("at most 200,000 elements");
    if (!At("<")) return Bad("an element");
    Advance(1);
    element->line = line_;
    AIST_RETURN_IF_ERROR(Name(&element->name));
    while (true) {
      SkipBlank();
      if (At("/>")) {
        Advance(2);
        return absl::OkStatus();
      }
      if (At(">")) break;
      std::string key, value;
      AIST_RETURN_IF_ERROR(Name(&key));
      AIST_RETURN_IF_ERROR(Value(&value));
      if (element->attributes.size() >= 200) return Bad("at most 200 attributes");
      for (const auto& [known, ignored] : element->attributes) {
        if (known == key) return Bad(util::StrCat("attribute ", key, " once"));
      }
      element->attributes.emplace_back(std::move(key), std::move(value));
    }
    Advance(1);
    return Content(element, depth);
  }
  absl::Status Content(XmlElement* element, size_t depth) {
    while (true) {
      const size_t next = text_.find('<', at_);
      if (next == std::string_view::npos) return Bad(util::StrCat("</", element->name, ">"));
      // Text between elements means nothing here, but it must be text.
      std::string ignored;
      AIST_RETURN_IF_ERROR(Unescape(text_.substr(at_, next - at_), &ignored));
      Advance(next - at_);
      if (At("<!--")) {
        AIST_RETURN_IF_ERROR(SkipTo("-->", "the end of a comment"));
      } else if (At("</")) {
        Advance(2);
        std::string name;
        AIST_RETURN_IF_ERROR(Name(&name));
        SkipBlank();
        if (name != element->name || !At(">")) return Bad(util::StrCat("</", element->name, ">"));
        Advance(1);
        return absl::OkStatus();
      } else if (At("<!") || At("<?")) {
        return Bad("elements only");
      } else {
        XmlElement child;
        AIST_RETURN_IF_ERROR(Element(&child, depth + 1));
        element->children.push_back(std::move(child));
      }
    }
  }

  const std::string_view text_;
  const std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  size_t elements_ = 0;
};

}  // namespace

std::string_view XmlElement::Get(std::string_view attribute) const {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) return value;
  }
  return {};
}

absl::StatusOr<int32_t> XmlElement::Number(std::string_view attribute, int32_t otherwise,
                                           std::string_view source) const {
  const std::string_view text = Get(attribute);
  if (text.empty()) return otherwise;
  const auto value = util::ParseInt<int32_t>(text);
  if (value.has_value()) return *value;
  return util::InvalidArgument(
      "topology.xml", util::StrCat(source, ", line ", line, ": <", name, "> ", attribute,
                                   ": expected a whole number, got \"", util::Excerpt(text), "\""));
}

absl::StatusOr<XmlElement> ParseXml(std::string_view text, std::string_view source) {
  return Parser(text, source).Run();
}

}  // namespace aistation::topology
