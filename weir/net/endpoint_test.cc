#include <weir/net/endpoint.h>

#include <gtest/gtest.h>

namespace weir::net {
namespace {

TEST(endpoint, each_form_comes_back_as_it_was_written) {
  for (const char* text :
       {"127.0.0.1:9001", "[::1]:9001", "localhost:0", "host.example:65535", "unix:/run/weir.sock"}) {
    const auto at = endpoint::parse(text);
    ASSERT_TRUE(at.ok()) << at.error().message;
    EXPECT_EQ(at->text(), text);
  }
}

TEST(endpoint, the_parts_are_where_they_belong) {
  const auto tcp = endpoint::parse("[::1]:9001");
  EXPECT_EQ(tcp->host, "::1");
  EXPECT_EQ(tcp->port, 9001);
  EXPECT_FALSE(tcp->is_unix());
  const auto local = endpoint::parse("unix:relative/path");
  EXPECT_TRUE(local->is_unix());
  EXPECT_EQ(local->unix_path, "relative/path");
  EXPECT_TRUE(local->host.empty());
}

TEST(endpoint, what_is_not_an_address_is_refused_and_named) {
  const std::string long_path = "unix:/" + std::string(107, 'x');
  for (const std::string text :
       {"", "host", "host:", ":9001", "host:65536", "host:-1", "host:9001x", "host: 9001", "ho st:9001",
        "h\xc3\xb6st:9001", "::1:9001", "[::1]9001", "[::1", "[host]:9001", "unix:", long_path.c_str()}) {
    const auto at = endpoint::parse(text);
    ASSERT_FALSE(at.ok()) << text;
    EXPECT_EQ(at.error().code, errc::invalid_argument) << text;
    EXPECT_NE(at.error().message.find("'" + text + "'"), std::string::npos) << at.error().message;
  }
}

TEST(endpoint, only_loopback_and_unix_sockets_are_local) {
  for (const char* text : {"127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "localhost:1", "unix:/x"}) {
    EXPECT_TRUE(endpoint::parse(text)->is_local()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1", "example.org:1", "localhost.example.org:1"}) {
    EXPECT_FALSE(endpoint::parse(text)->is_local()) << text;
  }
}

}  // namespace
}  // namespace weir::net
