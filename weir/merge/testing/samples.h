#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <weir/core/keys.h>
#include <weir/store/batch.h>
#include <weir/store/query.h>

// Made-up statements for the tests of merging.
namespace weir::merge::testing {

inline key_pair key_number(std::uint8_t number) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(number);
  return key_pair::from_seed(seed);
}

inline std::vector<store::record> records(std::size_t first, std::size_t count, std::size_t object_bytes = 100) {
  std::vector<store::record> made;
  for (std::size_t i = first; i < first + count; ++i) {
    std::string text = fmt::format("object number {} ", i);
    text.resize(std::max(text.size(), object_bytes), '.');
    made.push_back({codec::raw, to_bytes(text), {fmt::format("test:{}", i)}, {"sample"}, {}});
  }
  return made;
}

inline store::verified_batch sealed(std::vector<store::record> made, std::string_view name_space = "test.things",
                                    std::uint8_t key = 1, std::uint64_t timestamp = 1'700'000'000) {
  return store::seal(std::move(made), name_space, key_number(key), timestamp).value();
}

inline store::query query(std::string_view text = "SELECT * FROM test.*") { return store::query::parse(text).value(); }

}  // namespace weir::merge::testing
