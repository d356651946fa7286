#include <weir/merge/internal/lister.h>

#include <gtest/gtest.h>

#include <weir/core/limits.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/merge/testing/samples.h>

namespace weir::merge::internal {
namespace {

using testing::records;
using testing::sealed;

std::vector<store::row> rows_of(const store::verified_batch& batch) {
  std::vector<store::row> rows;
  for (const auto& said : batch.statements())
    rows.push_back({rows.size() + 1, said.id, batch.bundles()[said.bundle].id.hash(), said.encoded});
  return rows;
}

std::vector<listing> listings(std::vector<store::row> rows, std::uint64_t of = 0) {
  return flow::to_vector(lister(flow::from_range(std::move(rows)), of)).value();
}

TEST(lister, a_bundle_of_the_size_of_a_fetch_is_one_listing) {
  const auto batch = sealed(records(0, limits::fetch_statements_max));
  const auto lists = listings(rows_of(batch), 2000);
  ASSERT_EQ(lists.size(), 1U);
  ASSERT_EQ(lists[0].groups.size(), 1U);
  EXPECT_EQ(lists[0].groups[0].bundle, batch.bundles()[0].id.hash());
  EXPECT_EQ(lists[0].groups[0].statements.size(), limits::fetch_statements_max);
  EXPECT_EQ(lists[0].groups[0].objects.size(), limits::fetch_statements_max);
  EXPECT_EQ(lists[0].at, limits::fetch_statements_max);
  EXPECT_EQ(lists[0].of, 2000U);
}

TEST(lister, one_statement_more_begins_another_listing) {
  const auto lists = listings(rows_of(sealed(records(0, limits::fetch_statements_max + 1))));
  ASSERT_EQ(lists.size(), 2U);
  EXPECT_EQ(lists[1].groups[0].statements.size(), 1U);
  EXPECT_EQ(lists[1].at, limits::fetch_statements_max + 1);
}

TEST(lister, no_rows_are_no_listing) { EXPECT_TRUE(listings({}).empty()); }

TEST(lister, an_object_of_two_statements_is_listed_once) {
  auto twice = records(0, 1);
  twice.push_back(twice[0]);
  twice[1].refs = {"test:other"};
  const auto lists = listings(rows_of(sealed(std::move(twice))));
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists[0].groups[0].statements.size(), 2U);
  EXPECT_EQ(lists[0].groups[0].objects.size(), 1U);
}

TEST(lister, dependencies_are_listed_with_the_objects) {
  auto made = records(0, 1);
  const cid dep = cid::of(codec::raw, as_bytes("a schema"));
  made[0].deps = {dep};
  const auto lists = listings(rows_of(sealed(std::move(made))));
  const auto& objects = lists.at(0).groups[0].objects;
  EXPECT_EQ(objects.size(), 2U);
  EXPECT_NE(std::find(objects.begin(), objects.end(), dep), objects.end());
}

TEST(lister, a_listing_never_holds_more_bundles_than_a_fetch_may) {
  std::vector<store::row> rows;
  for (std::size_t i = 0; i < limits::fetch_bundles_max + 1; ++i) {
    auto one = rows_of(sealed(records(i, 1)));
    one[0].counter = i + 1;
    rows.push_back(one[0]);
  }
  const auto lists = listings(std::move(rows));
  ASSERT_EQ(lists.size(), 2U);
  EXPECT_EQ(lists[0].groups.size(), limits::fetch_bundles_max);
  EXPECT_EQ(lists[1].groups.size(), 1U);
}

TEST(lister, every_listing_can_be_read_by_its_receiver) {
  // Many dependencies apiece, so that the bound on objects closes listings and not the one on statements.
  std::vector<cid> deps;
  for (std::size_t i = 0; i < 200; ++i) deps.push_back(cid::of(codec::raw, as_bytes(std::to_string(i))));
  auto made = records(0, 100);
  for (auto& record : made) record.deps = deps;
  const auto lists = listings(rows_of(sealed(std::move(made))));
  EXPECT_GT(lists.size(), 1U);
  std::size_t statements = 0;
  for (const auto& list : lists) {
    EXPECT_TRUE(decode_listing(encode(list)));
    for (const auto& group : list.groups) statements += group.statements.size();
  }
  EXPECT_EQ(statements, 100U);
}

TEST(lister, a_failure_of_the_rows_comes_after_what_was_read) {
  auto rows = rows_of(sealed(records(0, 3)));
  std::size_t at = 0;
  auto failing = flow::generate([&]() -> result<std::optional<store::row>> {
    if (at == rows.size()) return fail(errc::io, "the disk is gone");
    return std::optional(rows[at++]);
  });
  std::size_t statements = 0;
  const auto ended = flow::for_each(lister(std::move(failing), 0), [&](listing&& list) {
    for (const auto& group : list.groups) statements += group.statements.size();
  });
  EXPECT_EQ(statements, 3U);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::io);
}

TEST(lister, a_row_that_cannot_be_read_is_corrupt_and_named) {
  auto rows = rows_of(sealed(records(0, 2)));
  rows[1].encoded.pop_back();
  const auto ended = flow::for_each(lister(flow::from_range(rows), 0), [](listing&&) {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::corrupt);
  EXPECT_NE(ended.error().message.find(rows[1].id.text()), std::string::npos);
}

}  // namespace
}  // namespace weir::merge::internal
