// SHA-256, CRC-32C and the hash of a set.
#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/crc32c.h>
#include <weir/core/hex.h>
#include <weir/core/internal/crc32c_ways.h>
#include <weir/core/set_hash.h>
#include <weir/core/sha256.h>
#include <weir/core/thread.h>

namespace weir {
namespace {

// FIPS 180-4 examples, and the empty message of NIST's SHA256ShortMsg.
const std::pair<std::string, const char*> sha_vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(sha256, agrees_with_fips_180_4) {
  for (const auto& [message, expected] : sha_vectors) {
    EXPECT_EQ(to_hex(sha256(as_bytes(message))), expected);
  }
}

TEST(sha256, pieces_give_the_digest_of_the_whole_and_the_stream_starts_anew) {
  sha256_stream stream;
  for (const auto& [message, expected] : sha_vectors) {
    for (const char& c : message) stream.update(as_bytes({&c, 1}));
    EXPECT_EQ(to_hex(stream.finish()), expected);
  }
  stream.update(as_bytes("something"));
  const digest one = stream.finish();
  EXPECT_EQ(one, sha256(as_bytes("something")));
}

TEST(sha256, each_thread_has_a_context_of_its_own) {
  bool same[4] = {};
  {
    std::vector<thread> threads;
    for (bool& good : same) {
      threads.emplace_back("hasher", [&good] {
        good = true;
        for (int i = 0; i < 1000; ++i) {
          good = good && to_hex(sha256(as_bytes("abc"))) == sha_vectors[1].second;
        }
      });
    }
  }
  EXPECT_TRUE(std::all_of(std::begin(same), std::end(same), [](bool good) { return good; }));
}

bytes counting(std::uint8_t first, int step) {
  bytes out(32);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(first + static_cast<int>(i) * step);
  }
  return out;
}

// RFC 3720 §B.4 gives the checksums in the order of the wire, lowest octet first; and the check value of the CRC
// catalogues, for "123456789".
std::vector<std::pair<bytes, std::uint32_t>> crc_vectors() {
  return {
      {bytes(32, 0x00), 0x8a9136aa},
      {bytes(32, 0xff), 0x62a8ab43},
      {counting(0, 1), 0x46dd794e},
      {counting(31, -1), 0x113fdb5c},
      {*from_hex("01c000000000000000000000000000001400000000000400000000140000001828000000000000000200"
                 "000000000000"),
       0xd9963a56},
      {to_bytes("123456789"), 0xe3069283},
      {{}, 0},
  };
}

TEST(crc32c, agrees_with_rfc_3720) {
  for (const auto& [octets, expected] : crc_vectors()) {
    EXPECT_EQ(crc32c(octets), expected) << to_hex(octets);
  }
}

TEST(crc32c, every_way_agrees_with_rfc_3720) {
  for (const auto& [octets, expected] : crc_vectors()) {
    EXPECT_EQ(internal::crc32c_by_tables(octets, 0), expected);
#if WEIR_CRC32C_INSTRUCTION
    if (internal::crc32c_has_instruction()) {
      EXPECT_EQ(internal::crc32c_by_instruction(octets, 0), expected);
    }
#endif
  }
}

RC_GTEST_PROP(crc32c, the_ways_agree_and_pieces_give_the_whole, (const bytes& octets)) {
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, octets.size() + 1);
  const bytes_view whole(octets);
  const std::uint32_t expected = internal::crc32c_by_tables(whole, 0);
  RC_ASSERT(crc32c(whole) == expected);
  RC_ASSERT(crc32c(whole.subspan(cut), crc32c(whole.first(cut))) == expected);
  RC_ASSERT(internal::crc32c_by_tables(whole.subspan(cut), crc32c(whole.first(cut))) == expected);
}

digest filled_with(std::uint8_t octet) {
  digest d;
  d.fill(octet);
  return d;
}

TEST(set_hash, the_empty_set_is_the_hash_of_forty_zeroes) {
  EXPECT_EQ(set_hash().value(), sha256(bytes(40, 0)));
  EXPECT_EQ(set_hash().count(), 0u);
}

TEST(set_hash, carries_run_through_all_octets_and_fall_off_the_end) {
  // 2^256 - 1 and 1: the sum is 0 modulo 2^256, and the count tells it from the empty set.
  set_hash set;
  set.add(filled_with(0xff));
  digest one{};
  one[0] = 1;
  set.add(one);
  EXPECT_EQ(to_hex(set.binary()), std::string(64, '0') + "0200000000000000");
  EXPECT_NE(set.value(), set_hash().value());
  // ff…ff + ff…ff = ff…fe modulo 2^256, lowest octet first.
  set_hash twice;
  twice.add(filled_with(0xff));
  twice.add(filled_with(0xff));
  EXPECT_EQ(to_hex(twice.binary()), "fe" + std::string(62, 'f') + "0200000000000000");
}

RC_GTEST_PROP(set_hash, order_and_grouping_do_not_matter, (std::vector<std::string> names)) {
  set_hash forward, backward, left, right;
  for (const auto& name : names) forward.add(sha256(as_bytes(name)));
  std::reverse(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    backward.add(sha256(as_bytes(names[i])));
    (i % 2 == 0 ? left : right).add(sha256(as_bytes(names[i])));
  }
  left.add(right);
  RC_ASSERT(forward == backward);
  RC_ASSERT(forward == left);
  RC_ASSERT(forward.value() == left.value());
  RC_ASSERT(set_hash::from_binary(forward.binary()) == forward);
  forward.add(sha256(as_bytes("one more")));
  RC_ASSERT(!(forward == backward));
  forward.remove(sha256(as_bytes("one more")));
  RC_ASSERT(forward == backward);
}

}  // namespace
}  // namespace weir
