#include <weir/core/result.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(errc, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (unsigned char number = 1; number <= 21; ++number) {
    const auto name = to_string(static_cast<errc>(number));
    EXPECT_NE(name, "unknown") << int{number};
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 21u);
  EXPECT_EQ(to_string(errc::bad_signature), "bad_signature");
  EXPECT_EQ(to_string(errc::internal), "internal");
}

TEST(errc, a_number_from_a_newer_peer_is_named_unknown) {
  EXPECT_EQ(to_string(static_cast<errc>(0)), "unknown");
  EXPECT_EQ(to_string(static_cast<errc>(22)), "unknown");
}

TEST(system_error, the_number_chooses_the_code) {
  const std::pair<int, errc> expected[] = {
      {ENOSPC, errc::disk_full},
      {EDQUOT, errc::disk_full},
      {EACCES, errc::permission},
      {EPERM, errc::permission},
      {EROFS, errc::permission},
      {ENOENT, errc::not_found},
      {EADDRINUSE, errc::address_in_use},
      {ECONNREFUSED, errc::unreachable},
      {ENETUNREACH, errc::unreachable},
      {EHOSTUNREACH, errc::unreachable},
      {ECONNRESET, errc::disconnected},
      {EPIPE, errc::disconnected},
      {ECONNABORTED, errc::disconnected},
      {ETIMEDOUT, errc::timed_out},
      {ECANCELED, errc::cancelled},
      {EIO, errc::io},
      {EMFILE, errc::io},
  };
  for (const auto& [number, code] : expected) {
    EXPECT_EQ(system_error("x", number).code, code) << number;
  }
}

TEST(system_error, the_message_has_the_thing_and_the_systems_words) {
  const error e = system_error("cannot write 'a/b'", ENOSPC);
  EXPECT_EQ(e.message, "cannot write 'a/b': No space left on device");
  EXPECT_EQ(e.system, ENOSPC);
}

TEST(result, holds_values_that_can_only_be_moved) {
  result<std::unique_ptr<int>> held(std::make_unique<int>(7));
  ASSERT_TRUE(held);
  const auto taken = *std::move(held);
  EXPECT_EQ(*taken, 7);
}

TEST(result, try_and_check_hand_on_the_first_error) {
  const auto inner = [](bool good) -> result<int> {
    if (!good) return fail(errc::corrupt, "bad", 5);
    return 3;
  };
  const auto nothing = [](bool good) -> result<void> {
    if (!good) return fail(errc::locked, "held");
    return {};
  };
  const auto outer = [&](bool first, bool second) -> result<int> {
    WEIR_TRY(const int value, inner(first));
    WEIR_CHECK(nothing(second));
    return value + 1;
  };
  EXPECT_EQ(outer(true, true).value(), 4);
  EXPECT_EQ(outer(false, true).error().code, errc::corrupt);
  EXPECT_EQ(outer(false, true).error().system, 5);
  EXPECT_EQ(outer(true, false).error().message, "held");
}

#ifndef NDEBUG
TEST(result_death, reading_the_value_of_a_failure_is_caught) {
  const result<int> failed(fail(errc::io, "x"));
  EXPECT_DEATH((void)failed.value(), "");
  const result<int> good(1);
  EXPECT_DEATH((void)good.error(), "");
}
#endif

}  // namespace
}  // namespace weir
