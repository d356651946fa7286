#pragma once

// Statements and stores for tests.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/bytes.h>
#include <weir/core/keys.h>
#include <weir/flow/for_each.h>
#include <weir/store/batch.h>
#include <weir/store/query.h>
#include <weir/store/statement_store.h>

namespace weir::store::testing {

/// The same key for the same number, always.
inline key_pair key_of(std::uint8_t number) {
  std::array<std::uint8_t, 32> seed{};
  seed[0] = number;
  return key_pair::from_seed(seed);
}

inline record record_of(std::string_view object, std::vector<std::string> refs = {},
                        std::vector<std::string> tags = {}) {
  record r;
  r.object = to_bytes(object);
  r.refs = std::move(refs);
  r.tags = std::move(tags);
  return r;
}

/// `count` records "<prefix>0", "<prefix>1", …, each with its object's text as ref.
inline std::vector<record> records_of(std::string_view prefix, std::size_t count) {
  std::vector<record> records;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string text = std::string(prefix) + std::to_string(i);
    records.push_back(record_of(text, {text}));
  }
  return records;
}

inline verified_batch sealed(std::vector<record> records, std::string_view name_space = "test", std::uint8_t key = 1,
                             std::uint64_t timestamp = 1000) {
  auto batch = seal(std::move(records), name_space, key_of(key), timestamp);
  if (!batch) throw std::runtime_error(batch.error().message);
  return *std::move(batch);
}

inline query parsed(std::string_view text) {
  auto q = query::parse(text);
  if (!q) throw std::runtime_error(q.error().message);
  return *std::move(q);
}

/// What a receiver would get of a batch: its blocks, unverified.
inline unverified_batch blocks_of(const verified_batch& batch) {
  unverified_batch out;
  out.bundles = batch.bundles();
  out.objects = batch.objects();
  for (const verified_batch::attested& s : batch.statements()) out.statements.push_back({s.id, s.encoded});
  return out;
}

inline std::vector<row> rows_of(const statement_store& store, std::string_view text, std::uint64_t after = 0) {
  auto rows = flow::to_vector(store.select(parsed(text), after));
  if (!rows) throw std::runtime_error(rows.error().message);
  return *std::move(rows);
}

inline receipt write_one(statement_store& store, const verified_batch& batch) {
  auto done = store.write({&batch, 1});
  if (!done) throw std::runtime_error(done.error().message);
  return *std::move(done);
}

inline totals totals_of(const statement_store& store) {
  auto t = store.count();
  if (!t) throw std::runtime_error(t.error().message);
  return *t;
}

}  // namespace weir::store::testing
