#include <weir/queue/ring_spans.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::queue {
namespace {

static_assert(std::forward_iterator<ring_spans<int>::iterator>);

/// The part of a ring of six that has `count` places from `from` on, as a ring would cut it.
class part {
 public:
  part(std::size_t from, std::size_t count) {
    for (std::size_t i = 0; i < ring_.size(); ++i) ring_[i] = static_cast<int>(i);
    const std::size_t first = std::min(count, ring_.size() - from);
    spans = {{ring_.data() + from, first}, {ring_.data(), count - first}};
    for (std::size_t i = 0; i < count; ++i) expected.push_back(static_cast<int>((from + i) % ring_.size()));
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  ring_spans<int> spans;
  std::vector<int> expected;

 private:
  std::array<int, 6> ring_;
};

std::vector<int> walked(const ring_spans<int>& spans) { return {spans.begin(), spans.end()}; }

template <class Check>
void for_each_part(Check check) {
  for (std::size_t from = 0; from < 6; ++from) {
    for (std::size_t count = 0; count <= 6; ++count) {
      SCOPED_TRACE("from " + std::to_string(from) + ", " + std::to_string(count) + " places");
      check(part(from, count));
    }
  }
}

TEST(ring_spans, are_walked_from_first_to_last_wherever_they_begin_and_end) {
  for_each_part([](const part& of) { EXPECT_EQ(walked(of.spans), of.expected); });
}

TEST(ring_spans, know_their_size_and_each_of_their_items) {
  for_each_part([](const part& of) {
    EXPECT_EQ(of.spans.size(), of.expected.size());
    EXPECT_EQ(of.spans.empty(), of.expected.empty());
    for (std::size_t i = 0; i < of.expected.size(); ++i) EXPECT_EQ(of.spans[i], of.expected[i]);
  });
}

TEST(ring_spans, up_to_keeps_the_first_ones) {
  for_each_part([](const part& of) {
    for (std::size_t count = 0; count <= 8; ++count) {
      std::vector<int> expected = of.expected;
      expected.resize(std::min(count, expected.size()));
      const ring_spans<int> kept = of.spans.up_to(count);
      EXPECT_EQ(walked(kept), expected);
      EXPECT_EQ(kept.size(), expected.size());
    }
  });
}

TEST(ring_spans, an_empty_first_part_is_stepped_over) {
  std::array<int, 2> chunk = {1, 2};
  std::array<int, 1> before = {9};
  const ring_spans<int> spans{{before.data() + 1, 0}, chunk};
  EXPECT_EQ(walked(spans), (std::vector<int>{1, 2}));
  EXPECT_EQ(spans[0], 1);
  EXPECT_EQ(walked(ring_spans<int>{}), std::vector<int>{});
}

TEST(ring_spans, are_written_through) {
  part of(4, 4);
  for (int& item : of.spans) item += 10;
  EXPECT_EQ(walked(of.spans), (std::vector<int>{14, 15, 10, 11}));
}

TEST(ring_spans, an_iterator_can_be_kept_and_gone_on_from) {
  const part of(5, 3);
  auto at = of.spans.begin();
  const auto kept = at++;
  EXPECT_EQ(*kept, 5);
  EXPECT_EQ(*at, 0);
  EXPECT_NE(kept, at);
  EXPECT_EQ(std::next(kept), at);
  EXPECT_EQ(std::distance(kept, of.spans.end()), 3);
  std::array<std::string, 1> text = {"abc"};
  EXPECT_EQ((ring_spans<std::string>{text, {}}.begin()->size()), 3u);
}

}  // namespace
}  // namespace weir::queue
