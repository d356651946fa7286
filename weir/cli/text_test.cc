#include <weir/cli/text.h>

#include <gtest/gtest.h>

#include <weir/cli/progress_line.h>

namespace weir::cli {
namespace {

TEST(text, numbers_have_a_comma_every_three_digits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(64012), "64,012");
  EXPECT_EQ(with_commas(1234567890), "1,234,567,890");
}

TEST(text, one_thing_is_not_many) {
  EXPECT_EQ(counted(1, "object"), "1 object");
  EXPECT_EQ(counted(0, "object"), "0 objects");
  EXPECT_EQ(counted(2000, "object"), "2,000 objects");
}

TEST(text, sizes_have_one_digit_behind_the_point) {
  EXPECT_EQ(as_size(0), "0 B");
  EXPECT_EQ(as_size(999), "999 B");
  EXPECT_EQ(as_size(1000), "1.0 kB");
  EXPECT_EQ(as_size(61'249'000), "61.2 MB");
  EXPECT_EQ(as_size(999'960), "1.0 MB");
  EXPECT_EQ(as_size(3'000'000'000'000'000), "3000.0 TB");
}

TEST(text, durations_are_read_as_on_a_watch) {
  EXPECT_EQ(as_duration(1.94), "1.9 s");
  EXPECT_EQ(as_duration(125), "2:05");
  EXPECT_EQ(as_duration(3725), "1:02:05");
}

TEST(text, a_rate_of_no_time_is_finite) {
  EXPECT_EQ(as_rate(1000, 2), "500/s");
  EXPECT_EQ(as_rate(10, 0), "10,000/s");
}

TEST(progress, a_line_has_bar_share_count_rate_and_time_left) {
  EXPECT_EQ(progress_text("merging", "statements", 0.5, 30'000, 1.5, true),
            "merging  [############............]   50 %  30,000 statements  20,000/s  1.5 s left");
}

TEST(progress, a_plain_line_has_no_bar) {
  EXPECT_EQ(progress_text("merging", "statements", 1, 10, 2, false), "merging  100 %  10 statements  5/s");
}

TEST(progress, of_unknown_length_there_is_only_count_and_rate) {
  EXPECT_EQ(progress_text("publishing", "records", -1, 10, 2, true), "publishing  10 records  5/s");
}

}  // namespace
}  // namespace weir::cli
