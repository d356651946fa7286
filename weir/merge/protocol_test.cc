#include <weir/merge/protocol.h>

#include <gtest/gtest.h>

#include <weir/core/hex.h>
#include <weir/core/limits.h>

namespace weir::merge {
namespace {

digest filled(std::uint8_t value) {
  digest d;
  d.fill(value);
  return d;
}

listing small_listing() {
  listing list;
  list.at = 5;
  list.of = 300;
  list.groups.push_back({filled(0xb0), {filled(0x51), filled(0x52)}, {cid(codec::raw, filled(0x0b))}});
  return list;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Written out by hand from RFC 8949: a map of 3, its keys shorter first, ids side by side.
TEST(protocol, a_listing_has_the_octets_that_the_design_note_shows) {
  const std::string expected =
      "a3"
      "626174"
      "05"  // "at": 5
      "626f66"
      "19012c"  // "of": 300
      "6667726f757073"
      "81"
      "83"  // "groups": [[
      "5820" +
      repeated("b0", 32) +                                // bundle
      "5840" + repeated("51", 32) + repeated("52", 32) +  // statements
      "5824"
      "01551220" +
      repeated("0b", 32);  // objects
  EXPECT_EQ(to_hex(encode(small_listing())), expected);
}

TEST(protocol, a_fetch_request_has_the_octets_that_the_design_note_shows) {
  const fetch_request wanted{{filled(0xb0)}, {filled(0x51)}, {}};
  const std::string expected =
      "a3"
      "6762756e646c6573"
      "5820" +
      repeated("b0", 32) +
      "676f626a65637473"
      "40"
      "6a73746174656d656e7473"
      "5820" +
      repeated("51", 32);
  EXPECT_EQ(to_hex(encode(wanted)), expected);
}

TEST(protocol, messages_come_back_as_they_were) {
  const auto list = decode_listing(encode(small_listing()));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->at, 5U);
  EXPECT_EQ(list->of, 300U);
  ASSERT_EQ(list->groups.size(), 1U);
  EXPECT_EQ(list->groups[0].bundle, filled(0xb0));
  EXPECT_EQ(list->groups[0].statements, (std::vector{filled(0x51), filled(0x52)}));
  EXPECT_EQ(list->groups[0].objects, std::vector{cid(codec::raw, filled(0x0b))});

  const auto request = decode_list_request(encode(list_request{"SELECT * FROM *", 42}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->query, "SELECT * FROM *");
  EXPECT_EQ(request->after, 42U);

  const fetch_request wanted{{filled(1)}, {filled(2), filled(3)}, {cid(codec::dag_cbor, filled(4))}};
  const auto fetched = decode_fetch_request(encode(wanted));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(fetched->bundles, wanted.bundles);
  EXPECT_EQ(fetched->statements, wanted.statements);
  EXPECT_EQ(fetched->objects, wanted.objects);
}

TEST(protocol, a_message_cut_short_anywhere_is_refused) {
  const bytes whole[] = {encode(small_listing()), encode(list_request{"SELECT * FROM a", 1}),
                         encode(fetch_request{{filled(1)}, {filled(2)}, {cid(codec::raw, filled(3))}})};
  for (std::size_t cut = 0; cut < whole[0].size(); ++cut) EXPECT_FALSE(decode_listing(bytes_view(whole[0]).first(cut)));
  for (std::size_t cut = 0; cut < whole[1].size(); ++cut)
    EXPECT_FALSE(decode_list_request(bytes_view(whole[1]).first(cut)));
  for (std::size_t cut = 0; cut < whole[2].size(); ++cut)
    EXPECT_FALSE(decode_fetch_request(bytes_view(whole[2]).first(cut)));
}

TEST(protocol, a_message_with_something_behind_it_is_refused) {
  bytes more = encode(small_listing());
  more.push_back(0);
  EXPECT_FALSE(decode_listing(more));
}

TEST(protocol, a_listing_over_the_limit_is_too_large) {
  listing list;
  list.groups.push_back({filled(1), std::vector(limits::fetch_statements_max + 1, filled(2)), {}});
  const auto refused = decode_listing(encode(list));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_large);
}

// The limits hold for the whole message, not for each group.
TEST(protocol, a_listing_over_the_limit_in_two_groups_is_too_large) {
  listing list;
  list.groups.push_back({filled(1), std::vector(limits::fetch_statements_max, filled(2)), {}});
  EXPECT_TRUE(decode_listing(encode(list)));
  list.groups.push_back({filled(3), {filled(4)}, {}});
  const auto refused = decode_listing(encode(list));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_large);
}

TEST(protocol, a_section_is_what_car_files_hold) {
  bytes sections;
  append_section(sections, cid(codec::raw, filled(0xaa)), as_bytes("hi"));
  EXPECT_EQ(to_hex(sections),
            "26"
            "01551220" +
                repeated("aa", 32) + "6869");  // 0x26 = 36 + 2
}

TEST(protocol, sections_come_off_one_by_one) {
  bytes sections;
  append_section(sections, cid(codec::raw, filled(1)), as_bytes("one"));
  append_section(sections, cid(codec::dag_cbor, filled(2)), {});
  bytes_view left = sections;
  const auto first = take_section(left);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, cid(codec::raw, filled(1)));
  EXPECT_EQ(as_text(first->data), "one");
  const auto second = take_section(left);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, cid(codec::dag_cbor, filled(2)));
  EXPECT_TRUE(second->data.empty());
  EXPECT_TRUE(left.empty());
}

TEST(protocol, a_section_that_claims_more_than_there_is_is_refused) {
  bytes sections;
  append_section(sections, cid(codec::raw, filled(1)), as_bytes("one"));
  for (std::size_t cut = 1; cut < sections.size(); ++cut) {
    bytes_view left = bytes_view(sections).first(cut);
    EXPECT_FALSE(take_section(left)) << cut;
  }
}

}  // namespace
}  // namespace weir::merge
