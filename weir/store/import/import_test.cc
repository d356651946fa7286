#include <weir/store/import/import.h>

#include <string>

#include <gtest/gtest.h>

#include <weir/core/hex.h>
#include <weir/core/limits.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/store/testing/damage_files.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using weir::testing::temporary_directory;

bool begins(const std::string& text, const std::string& with) { return text.starts_with(with); }

class import_of : public ::testing::Test {
 protected:
  // The records of a file "in" with this content; or the first error, after the records before it.
  std::vector<record> records(std::string_view content, const import_options& how = {}) {
    const auto path = dir_ / "in";
    testing::write_whole(path, as_bytes(content));
    auto flow = import_file(path, how);
    EXPECT_TRUE(flow);
    std::vector<record> taken;
    failure_ = {};
    const auto outcome = flow::for_each(*std::move(flow), [&](record&& r) { taken.push_back(std::move(r)); });
    if (!outcome) failure_ = outcome.error();
    return taken;
  }
  std::string fault(std::string_view content, const import_options& how = {}) {
    (void)records(content, how);
    const std::string prefix = (dir_ / "in").string() + ":";
    EXPECT_TRUE(failure_.message.starts_with(prefix)) << failure_.message;
    return failure_.message.substr(std::min(prefix.size(), failure_.message.size()));
  }

  temporary_directory dir_;
  error failure_;
};

// --- deb822 ---

constexpr std::string_view two_stanzas =
    "Package: bash\nVersion: 5.2.15-2+b7\nArchitecture: amd64\nSection: shells\nDescription: a shell\n with a second "
    "line\n"
    "\n"
    "Package: tzdata\nVersion: 2024a-0\nArchitecture: all\n";

TEST_F(import_of, stanzas_makes_an_object_of_each_with_its_octets_ref_and_section) {
  const std::vector<record> r = records(two_stanzas);
  ASSERT_TRUE(failure_.message.empty()) << failure_.message;
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].kind, codec::raw);
  EXPECT_EQ(as_text(r[0].object), two_stanzas.substr(0, two_stanzas.find("\n\n") + 1));
  EXPECT_EQ(r[0].refs, std::vector<std::string>{"deb:bash/5.2.15-2+b7/amd64"});
  EXPECT_EQ(r[0].tags, std::vector<std::string>{"shells"});
  EXPECT_EQ(as_text(r[1].object), "Package: tzdata\nVersion: 2024a-0\nArchitecture: all\n");
  EXPECT_EQ(r[1].refs, std::vector<std::string>{"deb:tzdata/2024a-0/all"});
  EXPECT_TRUE(r[1].tags.empty());
}

TEST_F(import_of, stanzas_gives_the_same_object_wherever_a_stanza_stands) {
  const std::string stanza = "package:  x \nVERSION:1\nArchitecture: all\n";
  const auto object = records(stanza).at(0).object;
  for (const std::string& file : {"\n\n" + stanza, stanza + "\n \t\n\n", stanza.substr(0, stanza.size() - 1),
                                  std::string(two_stanzas) + "\n" + stanza}) {
    const std::vector<record> r = records(file);
    ASSERT_FALSE(r.empty()) << failure_.message;
    EXPECT_EQ(r.back().object, object) << file;
    EXPECT_EQ(r.back().refs, std::vector<std::string>{"deb:x/1/all"});
  }
  EXPECT_TRUE(records("").empty());
  EXPECT_TRUE(records("\n\n\n").empty());
  EXPECT_TRUE(failure_.message.empty());
}

TEST_F(import_of, stanzas_names_file_and_line_of_what_is_wrong) {
  const std::string good = "Package: x\nVersion: 1\nArchitecture: all\n";
  import_options stanzas;
  stanzas.format = import_format::deb822;
  EXPECT_PRED2(begins, fault(good + "no colon here\n"), "4: 'no colon here' has no colon");
  EXPECT_PRED2(begins, fault(" continued\n" + good, stanzas), "1: a continuation line");
  EXPECT_TRUE(
      fault("Package: x\n y\nVersion: 1\n").starts_with("2: a continuation line; expected 'Package' to be one line"));
  EXPECT_TRUE(fault(good + "\n\nPackage: y\nArchitecture: all\n")
                  .starts_with("6: the stanza that begins here has no 'Version'"));
  EXPECT_PRED2(begins, fault(good + "version: 2\n"), "4: 'version' stands twice");
  EXPECT_PRED2(begins, fault("Package:\nVersion: 1\n"), "1: 'Package' is empty");
  EXPECT_PRED2(begins, fault(good + "Tag: \xff\n"), "4: the line is not UTF-8");
  EXPECT_PRED2(begins, fault(good + "# comment: x\n"), "4: '# comment' is not the name of a field");
  EXPECT_PRED2(begins, fault(good + ": x\n"), "4: '' is not the name of a field");
  EXPECT_EQ(failure_.code, errc::malformed);
}

TEST_F(import_of, stanzas_keeps_its_limits) {
  const std::string good = "Package: x\nVersion: 1\nArchitecture: all\n";
  std::string large = good + "Description: x\n";
  while (large.size() <= limits::stanza_bytes_max) large += " " + std::string(70, 'x') + "\n";
  EXPECT_NE(fault(large).find("more than 1048576 octets"), std::string::npos);
  EXPECT_EQ(failure_.code, errc::too_large);
  std::string many = good;
  for (int i = 0; i < 300; ++i) many += "F" + std::to_string(i) + ": x\n";
  EXPECT_NE(fault(many).find("more than 256 fields"), std::string::npos);
  EXPECT_NE(fault("Package: " + std::string(1200, 'p') + "\nVersion: 1\nArchitecture: all\n").find("too long"),
            std::string::npos);
}

TEST_F(import_of, stanzas_gives_what_comes_before_a_fault) {
  const std::vector<record> r = records(std::string(two_stanzas) + "\nbroken\n");
  EXPECT_EQ(r.size(), 2u);
  EXPECT_EQ(failure_.code, errc::malformed);
}

// --- JSON lines ---

TEST_F(import_of, json_writes_deterministic_dag_cbor) {
  const std::vector<record> r =
      records(R"({"bb": 1, "a": [true, null, -1, 1.5, "ä\u0000"], "c": {"": {}}, "n": -9223372036854775808,)"
              R"( "u": 18446744073709551615, "f": 1e2})"
              "\n");
  ASSERT_EQ(r.size(), 1u) << failure_.message;
  EXPECT_EQ(r[0].kind, codec::dag_cbor);
  // Put together by hand: keys a c f n u bb; 1e2 is a float because it is written as one.
  EXPECT_EQ(to_hex(r[0].object),
            "a6"
            "6161"
            "85"
            "f5"
            "f6"
            "20"
            "fb3ff8000000000000"
            "63c3a400"
            "6163"
            "a160a0"
            "6166"
            "fb4059000000000000"
            "616e"
            "3b7fffffffffffffff"
            "6175"
            "1bffffffffffffffff"
            "626262"
            "01");
  EXPECT_TRUE(r[0].refs.empty());
  EXPECT_TRUE(r[0].tags.empty());
}

TEST_F(import_of, json_turns_links_into_cids_and_deps) {
  const std::string target = cid::of(codec::raw, as_bytes("x")).text();
  const std::vector<record> r = records(R"({"a": {"/": ")" + target + R"("}, "b": [{"/": ")" + target + R"("}]})");
  ASSERT_EQ(r.size(), 1u) << failure_.message;
  const std::string link = "d82a582500" + to_hex(cid::of(codec::raw, as_bytes("x")).binary());
  EXPECT_EQ(to_hex(r[0].object),
            "a2"
            "6161" +
                link +
                "6162"
                "81" +
                link);
  EXPECT_EQ(r[0].deps, std::vector<cid>{cid::of(codec::raw, as_bytes("x"))});
}

TEST_F(import_of, json_takes_ref_and_tags_from_the_members_it_is_told) {
  import_options how;
  how.ref_field = "id";
  how.ref_prefix = "dpla:";
  how.tag_field = "type";
  const std::vector<record> r = records(
      "{\"id\": \"x\", \"type\": \"map\"}\n\n{\"id\": 7, \"type\": [\"a\", \"b\", \"a\"], \"in\": {\"id\": 8}}\r\n"
      "{\"id\": -7}\n",
      how);
  ASSERT_EQ(r.size(), 3u) << failure_.message;
  EXPECT_EQ(r[0].refs, std::vector<std::string>{"dpla:x"});
  EXPECT_EQ(r[0].tags, std::vector<std::string>{"map"});
  EXPECT_EQ(r[1].refs, std::vector<std::string>{"dpla:7"});
  EXPECT_EQ(r[1].tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(r[2].refs, std::vector<std::string>{"dpla:-7"});
  EXPECT_TRUE(r[2].tags.empty());
  EXPECT_PRED2(begins, fault("{\"a\": 1}\n", how), "1: the object has no member \"id\"");
  EXPECT_PRED2(begins, fault("{\"id\": 1.5}\n", how), "1: \"id\" is to be the ref");
  EXPECT_PRED2(begins, fault("{\"id\": \"" + std::string(1020, 'x') + "\"}\n", how), "1: the ref has 1025 octets");
  EXPECT_PRED2(begins, fault("{\"id\": 1, \"type\": [1]}\n", how), "1: \"type\" is to be the tags");
  EXPECT_PRED2(begins, fault("{\"id\": 1, \"type\": \"\"}\n", how), "1: \"type\" gives");
}

TEST_F(import_of, json_refuses_what_json_leaves_open_with_file_line_and_column) {
  EXPECT_EQ(fault("{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n"), "2:12: the key \"a\" stands twice in one object");
  EXPECT_TRUE(
      fault("{\"a\": 18446744073709551616}").starts_with("1:26: 18446744073709551616 does not fit into 64 bits"));
  EXPECT_PRED2(begins, fault("{\"a\": -9223372036854775809}"), "1:26: -9223372036854775809 does not fit");
  EXPECT_PRED2(begins, fault("{\"x\": {\"/\": 1}}"), "1:10: the key \"/\" is kept for links");
  EXPECT_TRUE(fault("{\"x\": {\"/\": \"bafy\", \"y\": 1}}").find("is kept for links") != std::string::npos);
  EXPECT_TRUE(fault("{\"x\": {\"/\": \"bafy\"}}").find("this is not a link") != std::string::npos);
  EXPECT_TRUE(fault("{\"a\": 1e999}").find("this is not JSON") != std::string::npos) << failure_.message;
}

TEST_F(import_of, json_refuses_what_is_not_json) {
  for (const std::string_view line :
       {"{\"a\": }", "{\"a\": 1", "{\"a\": 1} x", "{'a': 1}", "{\"a\": 01}", "{\"a\": NaN}", "{\"a\": \"\xff\"}",
        "{\"a\": \"\\ud800\"}", "{\"a\": 1,}", "{}{}"}) {
    EXPECT_TRUE(fault(line).starts_with("1:")) << line;
    EXPECT_EQ(failure_.code, errc::malformed) << line;
  }
  import_options json;
  json.format = import_format::json_lines;
  for (const std::string_view line : {"1", "[1]", "\"x\"", "null"})
    EXPECT_NE(fault(line, json).find("expected an object"), std::string::npos) << line;
}

TEST_F(import_of, json_keeps_its_limits) {
  std::string deep;
  for (int i = 0; i < limits::cbor_depth_max - 1; ++i) deep += "{\"a\":";
  EXPECT_EQ(records(deep + "{}" + std::string(63, '}')).size(), 1u) << failure_.message;
  EXPECT_NE(fault(deep + "{\"a\":{}}" + std::string(63, '}')).find("deep"), std::string::npos);
  EXPECT_EQ(failure_.code, errc::too_large);
  (void)records("{\"a\": \"" + std::string(limits::json_line_bytes_max, 'x') + "\"}\n");
  EXPECT_EQ(failure_.code, errc::too_large);
  // Each "1." is a float of nine octets: a line within its limit, an object over it.
  std::string floats = "{\"a\":[0.1";
  while (floats.size() < 4000000) floats += ",0.1";
  EXPECT_NE(fault(floats + "]}").find("as DAG-CBOR the object has"), std::string::npos);
}

// --- Both ---

TEST_F(import_of, a_file_goes_by_its_first_character) {
  EXPECT_EQ(records("\n  \n  {\"a\": 1}\n").at(0).kind, codec::dag_cbor);
  EXPECT_EQ(records("\n\n" + std::string(two_stanzas)).at(0).kind, codec::raw);
  EXPECT_NE(fault("[1]\n").find("JSON lines have one object a line"), std::string::npos);
  for (const char* text : {"\"a\"\n", "\xef\xbb\xbf{}\n", "-1\n"})
    EXPECT_NE(fault(text).find("neither JSON lines"), std::string::npos) << text;
}

TEST_F(import_of, a_file_that_is_not_there_is_not_found_at_once) {
  const auto refused = import_file(dir_ / "absent", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::not_found);
}

TEST_F(import_of, a_file_is_read_as_far_as_it_is_asked_for_and_counts_what_it_took) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "{\"a\": 10}\n";
  testing::write_whole(dir_ / "in", as_bytes(lines));
  import_options how;
  how.taken = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto flow = import_file(dir_ / "in", how);
  ASSERT_TRUE(flow);
  error failure;
  flow::context cx({}, failure);
  std::size_t demand = 3;
  const auto ignore = [](record&&) {};
  EXPECT_EQ(flow->pull(demand, ignore, cx), flow::step::more);
  EXPECT_EQ(*how.taken, 30u);
  demand = flow::unbounded;
  EXPECT_EQ(flow->pull(demand, ignore, cx), flow::step::done);
  EXPECT_EQ(*how.taken, 1000u);
}

}  // namespace
}  // namespace weir::store
