#include <weir/flow/testing/marble.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/amb.h>
#include <weir/flow/chunks.h>
#include <weir/flow/combine_latest.h>
#include <weir/flow/concat.h>
#include <weir/flow/filter.h>
#include <weir/flow/flat_map.h>
#include <weir/flow/group_by.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/switch_map.h>
#include <weir/flow/take.h>
#include <weir/flow/until.h>
#include <weir/flow/with_latest_from.h>
#include <weir/flow/zip.h>

namespace weir::flow::testing {
namespace {

counted both(counted&& a, const counted& b) { return counted(10 * a.number() + b.number()); }

TEST(marbles, are_read_as_they_are_written) {
  for (const char* text : {"|", "#", "!", "a|", "-a-b--c|", "--<12>-<-3>#", "---|", "z9!"}) {
    stage on;
    EXPECT_EQ(marbles_of(marbles(text, on), on), text);
  }
  stage on;
  EXPECT_EQ(marbles_of(marbles(" a - b |", on), on), "a-b|");
  EXPECT_EQ(marbles_of(marbles("a*", on), on), "a#");
}

TEST(marbles, that_are_none_are_refused) {
  for (const char* text : {"a|b", "(", "<12", "<x>", "|-"})
    EXPECT_THROW(events_of(text), std::invalid_argument) << text;
}

TEST(marbles, of_a_flow_without_an_end_stop_after_a_number_of_ticks) {
  stage on;
  const std::string text = marbles_of(marbles("a-b", on), on);
  EXPECT_EQ(text, "a-b" + std::string(marble_ticks_max / 2 - 2, '-'));
}

TEST(marbles, of_an_outcome_have_no_ticks) {
  EXPECT_EQ(marbles_of(outcome{{1, 'b', 33}, step::failed}), "1b<33>#");
  EXPECT_EQ(marbles_of(outcome{{1, 2}, std::nullopt}), "12");
}

TEST(marbles, tell_who_is_never_woken) {
  stage on;
  EXPECT_EQ(marbles_of(never<counted>(), on), "-?");
}

/// Gives more than it was asked for.
class generous {
 public:
  using value_type = counted;
  template <class Emit>
  step pull(std::size_t&, Emit&& emit, context&) {
    emit(counted(1));
    emit(counted(2));
    return step::done;
  }
};

TEST(marbles, tell_what_goes_against_the_contract) {
  stage on;
  EXPECT_EQ(marbles_of(generous(), on, 1), "the demand was not lowered by what was given");
}

TEST(marbles, show_items_that_are_made_of_several) {
  stage on;
  EXPECT_EQ(marbles_of(marbles("ab-cde-|", on) | chunks(2), on), "[ab]-[cd]e-|");
}

TEST(marbles, show_what_operators_of_several_sources_do) {
  stage on;
  const auto of = [&](const char* text) { return marbles(text, on); };
  EXPECT_EQ(marbles_of(merge(of("-a--c|"), of("--b--d|")), on), "-a-b-c-d|");
  EXPECT_EQ(marbles_of(merge(of("-a-#"), of("--b--|")), on), "-a-#");
  EXPECT_EQ(marbles_of(concat(of("-a-|"), of("-b|")), on), "-a--b|");
  EXPECT_EQ(marbles_of(amb(of("--a-b|"), of("-c--d|")), on), "-c--d|");
  EXPECT_EQ(marbles_of(zip(both, of("-1-2-3|"), of("--4---5|")), on), "--<14>---<25>|");
  EXPECT_EQ(marbles_of(of("1-2-3--|") | zip_with(both, of("--4|")), on), "--<14>|");
  EXPECT_EQ(marbles_of(of("-1-2---3|") | with_latest_from(both, of("--4-5|")), on), "--<24>---<35>|");
  EXPECT_EQ(marbles_of(of("-a-b-c-d|") | take_until(of("---z|")), on), "-a-b-|");
}

TEST(marbles, show_the_last_of_each_source) {
  stage on;
  const auto last = [](const counted& a, const counted& b) { return counted(10 * a.number() + b.number()); };
  EXPECT_EQ(marbles_of(combine_latest(last, marbles("-1---2--|", on), marbles("--3-4---|", on)), on),
            "--<13>-<14>-<24>--|");
}

TEST(marbles, show_what_becomes_of_a_flow_that_a_newer_one_replaces) {
  stage on;
  EXPECT_EQ(marbles_of(marbles("a---b-|", on) | switch_map([&](counted&& of) {
                         return marbles(of.number() == 'a' ? "-1-2-3-4|" : "-5-6|", on);
                       }),
                       on),
            "-1-2--5-6|");
}

TEST(marbles, keep_the_time_when_little_is_wanted_at_once) {
  for (const std::size_t demand : {1u, 2u, 100u}) {
    stage on;
    EXPECT_EQ(
        marbles_of(marbles("ab-cde-|", on) | filter([](const counted& of) { return of.number() != 'd'; }), on, demand),
        "ab-ce-|");
  }
}

TEST(marbles, show_that_the_items_of_each_key_stay_in_order) {
  stage on;
  EXPECT_EQ(marbles_of(marbles("1-2-3-4|", on) | group_by([](const counted& of) { return of.number() % 2; }) |
                           flat_map([](auto of) { return std::move(of) | take(1); }),
                       on),
            "1-2-3-4|")
      << "a group that was left is opened again";
}

}  // namespace
}  // namespace weir::flow::testing
