// SPDX-License-Identifier: Apache-2.0
#include "util/strings.h"

#include "unit/testing/matchers.h"
#include "util/json_writer.h"

namespace aistation::util {
namespace {

TEST(Strings, JoinsNumbersWithoutLocale) {
  EXPECT_EQ(StrCat("a", 1, ' ', -5, 2.5, true, uint64_t{18446744073709551615u}),
            "a1 -52.5true18446744073709551615");
  EXPECT_EQ(FormatFixed(1.005, 2), "1.00");
  EXPECT_EQ(FormatFixed(-0.5, 0), "-0");
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
}

TEST(Strings, ParsesWholeNumbersOnly) {
  EXPECT_EQ(ParseInt<uint32_t>("42"), 42u);
  for (const char* bad : {"", " 1", "1 ", "+1", "-1", "4294967296", "0x1", "1.0"}) {
    EXPECT_FALSE(ParseInt<uint32_t>(bad).has_value()) << bad;
  }
  EXPECT_EQ(ParseInt<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseInt<uint32_t>("ff", 16), 255u);
  EXPECT_EQ(ParseDouble("0.5"), 0.5);
  EXPECT_FALSE(ParseDouble("0,5").has_value());
}

TEST(Strings, SplitTrimReplace) {
  EXPECT_THAT(Split("a,,b", ','), ::testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ','), ::testing::ElementsAre(""));
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(ReplaceAll("aaa", "aa", "b"), "ba");
  EXPECT_EQ(ReplaceAll("abc", "", "x"), "abc");
}

TEST(Strings, HexAndBase64GoBothWays) {
  auto random = testing::Random();
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 50, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_EQ(HexDecode(HexEncode(bytes)), bytes);
    EXPECT_EQ(Base64Decode(Base64Encode(bytes)), bytes);
  }
  EXPECT_EQ(Base64Encode("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  EXPECT_EQ(Base64Decode("YW55"), "any");
  EXPECT_FALSE(HexDecode("abc").has_value());
  EXPECT_FALSE(HexDecode("zz").has_value());
  EXPECT_FALSE(Base64Decode("a").has_value());
  EXPECT_FALSE(Base64Decode("****").has_value());
}

// The obvious recursive definition.
bool Oracle(std::string_view p, std::string_view t) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') return Oracle(p.substr(1), t) || (!t.empty() && Oracle(p, t.substr(1)));
  return !t.empty() && (p[0] == '?' || p[0] == t[0]) && Oracle(p.substr(1), t.substr(1));
}

TEST(Strings, GlobIsAsTheOracle) {
  auto random = testing::Random();
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    std::string text;
    for (size_t n = random() % 7; n > 0; --n) pattern.push_back("ab*?"[random() % 4]);
    for (size_t n = random() % 8; n > 0; --n) text.push_back("ab"[random() % 2]);
    EXPECT_EQ(GlobMatch(pattern, text), Oracle(pattern, text)) << pattern << " " << text;
  }
  // Linear: this would take for ever otherwise.
  EXPECT_FALSE(GlobMatch("*a*a*a*a*a*a*a*a*a*a*b", std::string(20000, 'a')));
}

TEST(Strings, Utf8) {
  EXPECT_TRUE(IsValidUtf8("h\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80"));
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe4\xbd"}) {
    EXPECT_FALSE(IsValidUtf8(bad)) << HexEncode(bad);
    EXPECT_TRUE(IsValidUtf8(ToValidUtf8(bad)));
  }
}

TEST(Strings, SafeNames) {
  for (const char* good : {"a", "node-1.bank_2"}) EXPECT_TRUE(IsSafeName(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "a b", "\xc3\xa9"})
    EXPECT_FALSE(IsSafeName(bad)) << bad;
  EXPECT_FALSE(IsSafeName(std::string(129, 'a')));
}

TEST(JsonWriter, EscapesAndNests) {
  JsonWriter w(0);
  w.BeginObject();
  w.Key("a\"b");
  w.String("\n\x01\\");
  w.Key("list");
  w.BeginArray();
  w.Int(-1);
  w.Bool(false);
  w.EndArray();
  w.EndObject();
  const std::string text = ReplaceAll(w.Take(), " ", "");
  EXPECT_EQ(text, "{\"a\\\"b\":\"\\n\\u0001\\\\\",\"list\":[-1,false]}");
}

}  // namespace
}  // namespace aistation::util
