#include <weir/core/keys.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/core/file.h>
#include <weir/core/file_faults.h>
#include <weir/core/hex.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/core/thread.h>

namespace weir {
namespace {

using testing::temporary_directory;
using seed = std::array<std::uint8_t, 32>;

seed seed_of(std::string_view hex) {
  seed out;
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

public_key key_of(std::string_view hex) {
  public_key out;
  EXPECT_TRUE(from_hex(hex, out.octets));
  return out;
}

signature signature_of(std::string_view hex) {
  signature out;
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

struct vector {
  const char *seed, *key, *message, *signature;
};

// RFC 8032 §7.1: TEST 1, TEST 2, TEST 3, TEST 1024 and TEST SHA(abc).
const vector rfc_8032[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
    {"f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
     "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
     "08b8b2b733424243760fe426a4b54908632110a66c2f6591eabd3345e3e4eb98fa6e264bf09efe12ee50f8f54e9f77"
     "b1e355f6c50544e23fb1433ddf73be84d879de7c0046dc4996d9e773f4bc9efe5738829adb26c81b37c93a1b270b20"
     "329d658675fc6ea534e0810a4432826bf58c941efb65d57a338bbd2e26640f89ffbc1a858efcb8550ee3a5e1998bd1"
     "77e93a7363c344fe6b199ee5d02e82d522c4feba15452f80288a821a579116ec6dad2b3b310da903401aa62100ab5d"
     "1a36553e06203b33890cc9b832f79ef80560ccb9a39ce767967ed628c6ad573cb116dbefefd75499da96bd68a8a97b"
     "928a8bbc103b6621fcde2beca1231d206be6cd9ec7aff6f6c94fcd7204ed3455c68c83f4a41da4af2b74ef5c53f1d8"
     "ac70bdcb7ed185ce81bd84359d44254d95629e9855a94a7c1958d1f8ada5d0532ed8a5aa3fb2d17ba70eb6248e594e"
     "1a2297acbbb39d502f1a8c6eb6f1ce22b3de1a1f40cc24554119a831a9aad6079cad88425de6bde1a9187ebb6092cf"
     "67bf2b13fd65f27088d78b7e883c8759d2c4f5c65adb7553878ad575f9fad878e80a0c9ba63bcbcc2732e69485bbc9"
     "c90bfbd62481d9089beccf80cfe2df16a2cf65bd92dd597b0707e0917af48bbb75fed413d238f5555a7a569d80c341"
     "4a8d0859dc65a46128bab27af87a71314f318c782b23ebfe808b82b0ce26401d2e22f04d83d1255dc51addd3b75a2b"
     "1ae0784504df543af8969be3ea7082ff7fc9888c144da2af58429ec96031dbcad3dad9af0dcbaaaf268cb8fcffead9"
     "4f3c7ca495e056a9b47acdb751fb73e666c6c655ade8297297d07ad1ba5e43f1bca32301651339e22904cc8c42f58c"
     "30c04aafdb038dda0847dd988dcda6f3bfd15c4b4c4525004aa06eeff8ca61783aacec57fb3d1f92b0fe2fd1a85f67"
     "24517b65e614ad6808d6f6ee34dff7310fdc82aebfd904b01e1dc54b2927094b2db68d6f903b68401adebf5a7e08d7"
     "8ff4ef5d63653a65040cf9bfd4aca7984a74d37145986780fc0b16ac451649de6188a7dbdf191f64b5fc5e2ab47b57"
     "f7f7276cd419c17a3ca8e1b939ae49e488acba6b965610b5480109c8b17b80e1b7b750dfc7598d5d5011fd2dcc5600"
     "a32ef5b52a1ecc820e308aa342721aac0943bf6686b64b2579376504ccc493d97e6aed3fb0f9cd71a43dd497f01f17"
     "c0e2cb3797aa2a2f256656168e6c496afc5fb93246f6b1116398a346f1a641f3b041e989f7914f90cc2c7fff357876"
     "e506b50d334ba77c225bc307ba537152f3f1610e4eafe595f6d9d90d11faa933a15ef1369546868a7f3a45a96768d4"
     "0fd9d03412c091c6315cf4fde7cb68606937380db2eaaa707b4c4185c32eddcdd306705e4dc1ffc872eeee475a64df"
     "ac86aba41c0618983f8741c5ef68d3a101e8a3b8cac60c905c15fc910840b94c00a0b9d0",
     "0aab4c900501b3e24d7cdf4663326a3a87df5e4843b2cbdb67cbf6e460fec350aa5371b1508f9f4528ecea23c436d9"
     "4b5e8fcd4f681e30a6ac00a9704a188a03"},
    {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feeb"
     "bd454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0"
     "303dca179c138ac17ad9bef1177331a704"},
};

TEST(keys, agree_with_rfc_8032) {
  for (const auto& [secret, key, message, expected] : rfc_8032) {
    const key_pair pair = key_pair::from_seed(seed_of(secret));
    const bytes octets = *from_hex(message);
    EXPECT_EQ(to_hex(pair.pub().octets), key);
    EXPECT_EQ(to_hex(pair.sign(octets)), expected);
    EXPECT_TRUE(key_of(key).verify(octets, signature_of(expected)));
  }
}

TEST(keys, every_flipped_bit_of_message_signature_or_key_fails) {
  const auto& [secret, key_hex, message_hex, signature_hex] = rfc_8032[2];
  const public_key key = key_of(key_hex);
  bytes message = *from_hex(message_hex);
  signature sig = signature_of(signature_hex);
  const auto each_bit_fails = [&](std::span<std::uint8_t> octets, const auto& verify) {
    for (std::size_t bit = 0; bit < octets.size() * 8; ++bit) {
      octets[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      EXPECT_FALSE(verify()) << bit;
      octets[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    }
    EXPECT_TRUE(verify());
  };
  each_bit_fails(message, [&] { return key.verify(message, sig); });
  each_bit_fails(sig, [&] { return key.verify(message, sig); });
  public_key other = key;
  each_bit_fails(other.octets, [&] { return other.verify(message, sig); });
}

// Signatures that some verifiers accept and others do not would let two stores disagree about one bundle.
TEST(keys, small_order_keys_and_non_canonical_values_fail) {
  const bytes message = to_bytes("anything");
  // The neutral element as key and as R, with S = 0, satisfies the equation for every message.
  public_key neutral{};
  neutral.octets[0] = 1;
  signature trivial{};
  trivial[0] = 1;
  EXPECT_FALSE(neutral.verify(message, trivial));
  // The same point written as y = p + 1.
  EXPECT_FALSE(key_of("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f").verify(message, trivial));
  // A key whose y is not reduced: p + 3, the first beyond the points of small order.
  EXPECT_FALSE(key_of("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f").verify(message, trivial));

  // S + L, where L is the order of the group, is congruent to S and must be refused.
  const key_pair pair = key_pair::from_seed(seed_of(rfc_8032[0].seed));
  signature sig = pair.sign(message);
  ASSERT_TRUE(pair.pub().verify(message, sig));
  const bytes order = *from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  unsigned carry = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    carry += sig[32 + i] + order[i];
    sig[32 + i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_EQ(carry, 0u);
  EXPECT_FALSE(pair.pub().verify(message, sig));
}

// The example of the did:key specification, with its Ed25519 key in both forms.
TEST(keys, the_text_form_is_that_of_did_key) {
  const public_key key = key_of("2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6");
  EXPECT_EQ(key.text(), "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK");
  EXPECT_EQ(*public_key::parse("z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"), key);
}

TEST(keys, other_texts_are_refused_and_named) {
  const auto refusal = [](std::string_view text) { return public_key::parse(text).error(); };
  EXPECT_EQ(refusal("").code, errc::malformed);
  EXPECT_EQ(refusal("z").code, errc::unsupported);
  EXPECT_EQ(refusal("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK").code, errc::malformed);
  EXPECT_EQ(refusal("z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do0").code, errc::malformed);
  EXPECT_FALSE(public_key::parse("z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doKK"));
  EXPECT_FALSE(public_key::parse("z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do"));
  EXPECT_FALSE(public_key::parse("z16MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"));
  // A secp256k1 key from the did:key specification.
  EXPECT_EQ(refusal("zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme").code, errc::unsupported);
  EXPECT_EQ(refusal("z" + std::string(100'000, 'a')).code, errc::malformed);
}

RC_GTEST_PROP(keys, any_key_comes_back_from_its_text, ()) {
  public_key key;
  for (auto& octet : key.octets) octet = *rc::gen::arbitrary<std::uint8_t>();
  RC_ASSERT(*public_key::parse(key.text()) == key);
  RC_ASSERT(key.text().starts_with("z6Mk"));
}

TEST(keys, two_generated_pairs_differ_and_a_moved_pair_signs) {
  key_pair one = key_pair::generate();
  const key_pair two = key_pair::generate();
  EXPECT_NE(one.pub(), two.pub());
  const public_key key = one.pub();
  const key_pair moved = std::move(one);
  EXPECT_TRUE(key.verify(as_bytes("m"), moved.sign(as_bytes("m"))));
  EXPECT_FALSE(two.pub().verify(as_bytes("m"), moved.sign(as_bytes("m"))));
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

std::size_t entries(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

void put(const std::filesystem::path& path, std::string_view content, mode_t mode = 0600) {
  std::ofstream(path, std::ios::binary) << content;
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

const std::string seed_line = "weir-ed25519-seed-v1 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n";

TEST(key_file, the_first_call_makes_the_file_and_the_next_reads_the_same_pair) {
  const temporary_directory directory;
  const auto path = directory / "key";
  const auto made = key_pair::load_or_create(path);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(entries(directory.path()), 1u) << "nothing is left beside it";
  const auto content = read_file(path, 1000);
  EXPECT_EQ(content->size(), seed_line.size());
  EXPECT_TRUE(as_text(*content).starts_with("weir-ed25519-seed-v1 "));
  const auto read = key_pair::load_or_create(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pub(), made->pub());
}

TEST(key_file, its_one_line_is_the_seed_of_rfc_8032) {
  const temporary_directory directory;
  put(directory / "key", seed_line);
  EXPECT_EQ(to_hex(key_pair::load_or_create(directory / "key")->pub().octets), rfc_8032[0].key);
}

TEST(key_file, a_file_that_others_may_use_is_refused_with_the_remedy) {
  const temporary_directory directory;
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0610u, 0601u, 0644u}) {
    put(directory / "key", seed_line, mode);
    const auto read = key_pair::load_or_create(directory / "key");
    ASSERT_FALSE(read) << mode;
    EXPECT_EQ(read.error().code, errc::permission);
    EXPECT_NE(read.error().message.find("chmod 600 '" + (directory / "key").string() + "'"), std::string::npos);
  }
  put(directory / "key", seed_line, 0400);
  EXPECT_TRUE(key_pair::load_or_create(directory / "key"));
}

TEST(key_file, anything_else_is_malformed_and_stays_as_it_is) {
  const temporary_directory directory;
  const auto path = directory / "key";
  std::vector<std::string> contents = {"x" + seed_line, seed_line + "\n", seed_line + seed_line,
                                       std::string(1'000'000, 'a')};
  for (std::size_t size = 0; size < seed_line.size(); ++size) contents.push_back(seed_line.substr(0, size));
  for (std::size_t at = 0; at < seed_line.size(); ++at) {
    contents.push_back(seed_line);
    contents.back()[at] = '\x01';
  }
  for (const auto& content : contents) {
    put(path, content);
    const auto read = key_pair::load_or_create(path);
    ASSERT_FALSE(read) << content;
    EXPECT_EQ(read.error().code, errc::malformed);
    // The words must not give away what might be a key.
    EXPECT_EQ(read.error().message.find("9d61"), std::string::npos);
    EXPECT_EQ(as_text(*read_file(path, 2'000'000)), content);
  }
  EXPECT_EQ(key_pair::load_or_create(directory.path()).error().code, errc::malformed) << "a directory";
  EXPECT_EQ(key_pair::load_or_create(directory / "no/such/key").error().code, errc::not_found);
}

TEST(key_file, threads_that_race_to_make_it_get_one_key) {
  for (int round = 0; round < 20; ++round) {
    const temporary_directory directory;
    std::array<public_key, 8> got{};
    {
      std::vector<thread> threads;
      for (auto& key : got) {
        threads.emplace_back("racer", [&] {
          const auto pair = key_pair::load_or_create(directory / "key");
          if (pair) key = pair->pub();
        });
      }
    }
    EXPECT_EQ(std::count(got.begin(), got.end(), got[0]), 8);
    EXPECT_NE(got[0], public_key{});
    EXPECT_EQ(entries(directory.path()), 1u);
  }
}

/// Fails the n-th step, whatever it is.
class nth_step_fails final : public file_faults {
 public:
  explicit nth_step_fails(int n) : left_(n) {}
  answer before(file_step step, const std::filesystem::path&, std::uint64_t) override {
    if (left_-- != 0) return {};
    struck_ = step;
    return {ENOSPC, 10};
  }
  [[nodiscard]] bool has_struck() const { return left_ < 0; }
  [[nodiscard]] file_step struck() const { return struck_; }

 private:
  int left_;
  file_step struck_{};
};

TEST(key_file, a_full_disk_at_any_step_leaves_no_half_file) {
  std::set<file_step> struck;
  for (int n = 0;; ++n) {
    const temporary_directory directory;
    nth_step_fails faults(n);
    result<void> outcome;
    {
      const scoped_file_faults installed(faults);
      const auto made = key_pair::load_or_create(directory / "key");
      if (!made) outcome = made.error();
    }
    if (!faults.has_struck()) break;
    struck.insert(faults.struck());
    EXPECT_EQ(outcome.error().code, errc::disk_full);
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      EXPECT_EQ(entry.path().filename(), "key");
      EXPECT_EQ(std::filesystem::file_size(entry), seed_line.size());
    }
    EXPECT_TRUE(key_pair::load_or_create(directory / "key")) << "the next call makes or reads a key";
  }
  EXPECT_EQ(struck, (std::set<file_step>{file_step::open, file_step::append, file_step::sync, file_step::rename,
                                         file_step::sync_directory}));
}

}  // namespace
}  // namespace weir
