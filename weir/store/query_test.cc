#include <weir/store/query.h>

#include <string>

#include <gtest/gtest.h>

#include <weir/core/limits.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using testing::key_of;
using testing::parsed;

std::string canonical(std::string_view text) {
  const auto q = query::parse(text);
  return q ? q->text() : "error: " + q.error().message;
}

std::string message(std::string_view text) {
  const auto q = query::parse(text);
  EXPECT_FALSE(q) << text;
  if (q) return {};
  EXPECT_EQ(q.error().code, errc::invalid_argument);
  return q.error().message;
}

std::string id_text(std::string_view of) { return cid::of(codec::dag_cbor, as_bytes(of)).text(); }

TEST(query, reads_the_namespace_with_or_without_those_below) {
  query q = parsed("SELECT * FROM images.dpla");
  EXPECT_EQ(q.name_space(), "images.dpla");
  EXPECT_FALSE(q.with_children());
  EXPECT_EQ(q.where(), nullptr);
  EXPECT_EQ(q.limit(), std::nullopt);
  q = parsed("select * from images.* limit 7");
  EXPECT_EQ(q.name_space(), "images");
  EXPECT_TRUE(q.with_children());
  EXPECT_EQ(q.limit(), 7u);
  q = parsed("  SELECT\t*\nFROM *  ");
  EXPECT_EQ(q.name_space(), "");
  EXPECT_TRUE(q.with_children());
}

TEST(query, has_one_canonical_spelling) {
  EXPECT_EQ(canonical("select * from a.* where wki=x and timestamp<>05 limit 3"),
            "SELECT * FROM a.* WHERE ref = x AND timestamp != 5 LIMIT 3");
  EXPECT_EQ(canonical("SELECT * FROM * WHERE (tag = a OR (tag = b OR tag = c)) AND NOT (NOT (counter >= 1))"),
            "SELECT * FROM * WHERE (tag = a OR tag = b OR tag = c) AND NOT NOT counter >= 1");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref in (x, 'y z', x)"), "SELECT * FROM a WHERE ref IN (x, 'y z')");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref IN (x)"), "SELECT * FROM a WHERE ref = x");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref not in (x,y)"), "SELECT * FROM a WHERE ref NOT IN (x, y)");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref = 'it''s'"), "SELECT * FROM a WHERE ref = 'it''s'");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref = 'plain'"), "SELECT * FROM a WHERE ref = plain");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE namespace != b.c"), "SELECT * FROM a WHERE namespace != b.c");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE publisher = " + key_of(1).pub().text()),
            "SELECT * FROM a WHERE publisher = " + key_of(1).pub().text());
  EXPECT_EQ(canonical("SELECT * FROM a WHERE id IN (" + id_text("x") + ",'" + id_text("y") + "')"),
            "SELECT * FROM a WHERE id IN (" + id_text("x") + ", " + id_text("y") + ")");
  EXPECT_EQ(canonical("SELECT * FROM a WHERE ref = deb:bash/5.2.15-2+b7~x/amd64"),
            "SELECT * FROM a WHERE ref = deb:bash/5.2.15-2+b7~x/amd64");
}

// As in SQL: NOT binds closest, then AND, then OR. Mediachain read from left to right.
TEST(query, binds_not_before_and_before_or) {
  EXPECT_EQ(canonical("SELECT * FROM a WHERE tag=a OR tag=b AND NOT tag=c OR tag=d"),
            canonical("SELECT * FROM a WHERE (tag=a) OR ((tag=b) AND (NOT (tag=c))) OR (tag=d)"));
  EXPECT_NE(canonical("SELECT * FROM a WHERE tag=a OR tag=b AND tag=c"),
            canonical("SELECT * FROM a WHERE (tag=a OR tag=b) AND tag=c"));
}

TEST(query, keywords_and_fields_are_read_in_either_case_and_values_as_they_are) {
  EXPECT_EQ(canonical("sElEcT * fRoM A wHeRe TAG = Or AnD Timestamp > 1 LiMiT 2"),
            "SELECT * FROM A WHERE tag = Or AND timestamp > 1 LIMIT 2");
}

TEST(query, an_error_shows_what_was_expected_and_a_caret_where) {
  EXPECT_EQ(message("SELECT * FROM images.* WERE tag = x"),
            "'WERE' is out of place; expected WHERE, LIMIT or the end of the query\n"
            "SELECT * FROM images.* WERE tag = x\n"
            "                       ^");
  EXPECT_EQ(message("SELECT * FROM a WHERE tag ="),
            "the query ends here; expected a value, in quotes if it has blanks or signs in it\n"
            "SELECT * FROM a WHERE tag =\n"
            "                           ^");
  EXPECT_EQ(message("SELECT * FROM a\nWHERE (tag = x"),
            "this parenthesis is never closed\n"
            "SELECT * FROM a WHERE (tag = x\n"
            "                      ^");
  EXPECT_EQ(message("SELECT * FROM a LIMIT 0"),
            "LIMIT 0 selects nothing; leave LIMIT out to have all rows\n"
            "SELECT * FROM a LIMIT 0\n"
            "                      ^");
  // The caret counts characters, not octets.
  EXPECT_EQ(message("SELECT * FROM a WHERE tag = \xc3\xa4 ANT"),
            "'ANT' is out of place; expected AND, OR, LIMIT or the end of the query\n"
            "SELECT * FROM a WHERE tag = \xc3\xa4 ANT\n"
            "                              ^");
}

TEST(query, every_wrong_query_is_refused_with_three_lines) {
  const std::string long_chain = "SELECT * FROM a WHERE tag = " + std::string(limits::query_bytes_max, 'x');
  std::string deep = "SELECT * FROM a WHERE ";
  for (int i = 0; i < limits::query_depth_max; ++i) deep += i % 2 == 0 ? "(" : "NOT ";
  for (const std::string_view text :
       std::initializer_list<std::string_view>{"",
                                               "SELECT",
                                               "SELECT id FROM a",
                                               "SELECT COUNT(*) FROM a",
                                               "SELECT * a",
                                               "SELECT * FROM",
                                               "SELECT * FROM 'a'",
                                               "SELECT * FROM a..b",
                                               "SELECT * FROM a*",
                                               "SELECT * FROM a.*.b",
                                               "SELECT * FROM a ORDER BY counter",
                                               "SELECT * FROM a WHERE",
                                               "SELECT * FROM a WHERE size = 3",
                                               "SELECT * FROM a WHERE tag",
                                               "SELECT * FROM a WHERE tag < x",
                                               "SELECT * FROM a WHERE tag == x",
                                               "SELECT * FROM a WHERE tag = \"x\"",
                                               "SELECT * FROM a WHERE tag = 'x",
                                               "SELECT * FROM a WHERE tag = ''",
                                               "SELECT * FROM a WHERE tag = x tag = y",
                                               "SELECT * FROM a WHERE tag = x AND",
                                               "SELECT * FROM a WHERE tag = x)",
                                               "SELECT * FROM a WHERE tag IN x",
                                               "SELECT * FROM a WHERE tag IN ()",
                                               "SELECT * FROM a WHERE tag IN (x y)",
                                               "SELECT * FROM a WHERE tag NOT x",
                                               "SELECT * FROM a WHERE tag ! x",
                                               "SELECT * FROM a WHERE tag = a;b = c",
                                               "SELECT * FROM a WHERE timestamp = -1",
                                               "SELECT * FROM a WHERE timestamp = 1.5",
                                               "SELECT * FROM a WHERE timestamp = '1'",
                                               "SELECT * FROM a WHERE timestamp = 18446744073709551616",
                                               "SELECT * FROM a WHERE timestamp IN (1)",
                                               "SELECT * FROM a WHERE counter",
                                               "SELECT * FROM a WHERE namespace = b.*",
                                               "SELECT * FROM a WHERE namespace = b..c",
                                               "SELECT * FROM a WHERE id = bafybogus",
                                               "SELECT * FROM a WHERE publisher = z6Mkbogus",
                                               "SELECT * FROM a LIMIT",
                                               "SELECT * FROM a LIMIT many",
                                               "SELECT * FROM a LIMIT 3 4",
                                               "SELECT * FROM a WHERE tag = x\x01",
                                               "DELETE FROM a",
                                               long_chain,
                                               deep}) {
    const std::string said = message(text);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << text << "\n" << said;
    EXPECT_TRUE(said.ends_with('^')) << said;
  }
  EXPECT_FALSE(query::parse("SELECT * FROM a WHERE tag = \xff"));
}

TEST(query, an_id_of_raw_octets_is_not_a_statements) {
  const std::string raw = cid::of(codec::raw, as_bytes("x")).text();
  EXPECT_NE(message("SELECT * FROM a WHERE id = " + raw).find("bafyrei"), std::string::npos);
}

TEST(query, goes_as_deep_as_its_limit_and_no_deeper) {
  std::string deep = "SELECT * FROM a WHERE ";
  for (int i = 0; i < limits::query_depth_max; ++i) deep += "NOT ";
  EXPECT_TRUE(query::parse(deep + "tag = x"));
  EXPECT_FALSE(query::parse(deep + "NOT tag = x"));
}

// Peers are sent the canonical spelling.
TEST(query, is_refused_if_its_canonical_spelling_is_over_the_limit) {
  std::string text = "SELECT * FROM a WHERE tag=a";
  while (text.size() + 10 < limits::query_bytes_max) text += " OR tag=b";
  EXPECT_FALSE(query::parse(text));
}

// --- selects ---

struct sample {
  statement what;
  cid id;
};

sample statement_in(std::string name_space, std::vector<std::string> refs = {}, std::vector<std::string> tags = {}) {
  sample s;
  s.what.publisher = key_of(1).pub();
  s.what.name_space = std::move(name_space);
  s.what.refs = std::move(refs);
  s.what.tags = std::move(tags);
  s.what.timestamp = 100;
  s.id = cid::of(codec::dag_cbor, *encode(s.what));
  return s;
}

bool selects(std::string_view where, const sample& s) { return parsed(where).selects(s.what, s.id); }

TEST(query, a_wildcard_respects_dots_and_includes_the_namespace_itself) {
  for (const char* in : {"a", "a.b", "a.b.c", "a.-"}) EXPECT_TRUE(selects("SELECT * FROM a.*", statement_in(in))) << in;
  for (const char* out : {"ab", "ab.c", "b", "b.a", "A.b", "a-b"})
    EXPECT_FALSE(selects("SELECT * FROM a.*", statement_in(out))) << out;
  EXPECT_TRUE(selects("SELECT * FROM a", statement_in("a")));
  EXPECT_FALSE(selects("SELECT * FROM a", statement_in("a.b")));
  EXPECT_TRUE(selects("SELECT * FROM *", statement_in("x.y")));
  EXPECT_FALSE(selects("SELECT * FROM a.* WHERE namespace != a", statement_in("a")));
}

TEST(query, refs_and_tags_are_sets_of_which_one_must_match) {
  const sample s = statement_in("a", {"r1", "r2"}, {"t1"});
  EXPECT_TRUE(selects("SELECT * FROM a WHERE ref = r2", s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE ref != r2", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE ref != r3", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE ref IN (r3, r1)", s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE ref NOT IN (r3, r1)", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE tag = t1 AND ref = r1", s));
  const sample none = statement_in("a");
  EXPECT_TRUE(selects("SELECT * FROM a WHERE NOT ref = r1", none));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE ref != r1", none));
}

TEST(query, selects_by_id_publisher_and_timestamp) {
  const sample s = statement_in("a");
  EXPECT_TRUE(selects("SELECT * FROM a WHERE id = " + s.id.text(), s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE id != " + s.id.text(), s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE publisher = " + key_of(1).pub().text(), s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE publisher = " + key_of(2).pub().text(), s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE timestamp >= 100 AND timestamp <= 100 AND timestamp = 100", s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE timestamp > 100 OR timestamp < 100 OR timestamp != 100", s));
}

// Only a store knows counters, so a receiver lets them pass either way round; what the rest says still holds.
TEST(query, counters_are_true_either_way_round_for_a_receiver) {
  const sample s = statement_in("a", {"r"});
  EXPECT_TRUE(selects("SELECT * FROM a WHERE counter > 5", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE NOT counter > 5", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE counter > 5 AND counter < 5", s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE counter > 5 AND ref = other", s));
  EXPECT_TRUE(selects("SELECT * FROM a WHERE NOT (counter > 5 AND ref = r)", s));
  EXPECT_FALSE(selects("SELECT * FROM a WHERE NOT (counter > 5 OR ref = r)", s));
}

}  // namespace
}  // namespace weir::store
