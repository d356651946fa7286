#include <weir/net/rsocket/internal/round.h>

#include <gtest/gtest.h>

namespace weir::net::rsocket::internal {
namespace {

struct idle final : sender {
  void send() override {}
};

TEST(round, gives_each_sender_its_turn_in_order_and_once) {
  idle a, b, c;
  round r;
  r.add(a);
  r.add(b);
  r.add(a);
  r.add(c);
  EXPECT_EQ(r.next(), &a);
  r.add(a);
  EXPECT_EQ(r.next(), &b);
  EXPECT_EQ(r.next(), &c);
  EXPECT_EQ(r.next(), &a);
  EXPECT_EQ(r.next(), nullptr);
  EXPECT_TRUE(r.empty());
}

TEST(round, a_sender_can_leave_from_any_place) {
  for (int leaving = 0; leaving < 3; ++leaving) {
    idle s[3];
    round r;
    for (auto& one : s) r.add(one);
    r.remove(s[leaving]);
    r.remove(s[leaving]);
    for (int i = 0; i < 3; ++i) {
      if (i == leaving) continue;
      EXPECT_EQ(r.next(), &s[i]);
    }
    EXPECT_TRUE(r.empty());
  }
}

}  // namespace
}  // namespace weir::net::rsocket::internal
