#include <weir/flow/materialize.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

/// A notification as a number: an end is 100 and the number of its step.
counted numbered(notification<counted>&& what) {
  return what.is_item() ? std::move(what).item() : counted(100 + static_cast<int>(what.end()));
}

TEST(materialize, conforms) {
  const auto complaint = testing::conforms([](script from) { return materialize(std::move(from)) | map(numbered); },
                                           [](std::vector<int> numbers, step end) {
                                             numbers.push_back(100 + static_cast<int>(end));
                                             return outcome{numbers, step::done};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(dematerialize, conforms) {
  const notification<int> ends[] = {notification<int>::done(), notification<int>::cancelled(),
                                    notification<int>::failed(weir::fail(errc::io, "told"))};
  for (const auto& told : ends) {
    for (const int last : {1, 2, 3, 9}) {  // the number in whose place the end is told
      const auto complaint = testing::conforms(
          [=](script from) {
            return std::move(from) | map([=](counted&& item) {
                     if (item.number() < last) return notification<counted>(std::move(item));
                     return told.end() == step::failed      ? notification<counted>::failed(told.failure())
                            : told.end() == step::cancelled ? notification<counted>::cancelled()
                                                            : notification<counted>::done();
                   }) |
                   dematerialize();
          },
          [=](std::vector<int> numbers, step end) {
            if (numbers.size() < static_cast<std::size_t>(last)) return outcome{numbers, end};
            numbers.resize(static_cast<std::size_t>(last) - 1);
            return outcome{numbers, told.end()};
          });
      EXPECT_EQ(complaint, "") << last;
    }
  }
}

TEST(dematerialize, is_the_inverse_of_materialize) {
  const auto complaint =
      testing::conforms([](script from) { return std::move(from) | materialize() | dematerialize(); },
                        [](const std::vector<int>& numbers, step end) {
                          return outcome{numbers, end};
                        });
  EXPECT_EQ(complaint, "");
}

TEST(materialize, tells_an_exception_as_a_failure_behind_the_items_before) {
  const auto told = to_vector(range(0, 5) | map([](int i) {
                                if (i == 2) throw std::runtime_error("two");
                                return i;
                              }) |
                              materialize());
  ASSERT_TRUE(told);
  ASSERT_EQ(told->size(), 3u);
  EXPECT_EQ((*told)[1].item(), 1);
  EXPECT_EQ((*told)[2].end(), step::failed);
  EXPECT_EQ((*told)[2].failure().code, errc::threw);
  EXPECT_EQ((*told)[2].failure().message, "two");
}

TEST(materialize, lets_an_exception_of_the_consumer_pass) {
  testing::test_consumer all(range(0, 5) | materialize() | map([](notification<int> what) {
                               if (what.is_item() && what.item() == 2) throw std::runtime_error("two");
                               return 0;
                             }));
  EXPECT_EQ(all.request(unbounded), step::failed);
  EXPECT_EQ(all.failure.message, "two");
  EXPECT_EQ(all.items.size(), 2u);
}

TEST(materialize, keeps_the_end_until_it_is_asked_for) {
  testing::test_consumer all(empty<int>() | materialize());
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_TRUE(all.items.empty());
  EXPECT_EQ(all.request(1), step::done);
  ASSERT_EQ(all.items.size(), 1u);
  EXPECT_EQ(all.items[0].end(), step::done);
}

TEST(dematerialize, ends_an_endless_source_that_is_asked_for_everything) {
  const auto items =
      to_vector(iterate(0, [](int i) { return i + 1; }) |
                map([](int i) { return i < 3 ? notification<int>(i) : notification<int>::done(); }) | dematerialize());
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 2}));
}

TEST(dematerialize, tells_why_a_flow_failed_and_gives_what_can_only_be_moved) {
  EXPECT_EQ(to_vector(dematerialize(just(notification<int>::failed(weir::fail(errc::locked, "x"))))).error().code,
            errc::locked);
  const auto items = to_vector(just(std::make_unique<int>(7)) | materialize() | dematerialize());
  ASSERT_EQ(items->size(), 1u);
  EXPECT_EQ(*items->front(), 7);
}

TEST(notification, tells_an_item_from_an_end_of_the_same_type) {
  const notification<step> item(step::done);
  EXPECT_TRUE(item.is_item());
  EXPECT_FALSE(notification<step>::done().is_item());
  const notification<error> why(weir::fail(errc::io, "an item"));
  EXPECT_TRUE(why.is_item());
  EXPECT_EQ(notification<error>::failed(weir::fail(errc::io, "x")).end(), step::failed);
}

}  // namespace
}  // namespace weir::flow
