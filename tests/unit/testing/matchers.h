// SPDX-License-Identifier: Apache-2.0
// What tests say about results.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "util/status.h"

namespace aistation::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <class T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

template <class T>
::testing::AssertionResult IsOk(const T& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << StatusOf(result);
}
#define EXPECT_OK(expr) EXPECT_TRUE(::aistation::testing::IsOk(expr))
#define ASSERT_OK(expr) ASSERT_TRUE(::aistation::testing::IsOk(expr))
// Stable reason of an error, and a part of its message.
#define EXPECT_REASON(expr, reason, part)                                         \
  do {                                                                            \
    const auto aist_r_ = (expr);                                                  \
    ASSERT_FALSE(aist_r_.ok());                                                   \
    const absl::Status& aist_s_ = ::aistation::testing::StatusOf(aist_r_);        \
    EXPECT_EQ(::aistation::util::Reason(aist_s_), reason);                        \
    EXPECT_THAT(::aistation::util::Message(aist_s_), ::testing::HasSubstr(part)); \
  } while (false)

// Random numbers whose seed is printed, and taken from AISTATION_SEED when that is set.
inline std::mt19937_64 Random() {
  const char* text = getenv("AISTATION_SEED");
  const uint64_t seed = text != nullptr ? strtoull(text, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (AISTATION_SEED)\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

}  // namespace aistation::testing
