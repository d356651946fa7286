// Readers beside a writer; run under the thread sanitizer too.

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <weir/core/testing/temporary_directory.h>
#include <weir/core/thread.h>
#include <weir/store/internal/store_impl.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using namespace testing;
using weir::testing::temporary_directory;

constexpr std::size_t batch_size = 50;

std::unique_ptr<statement_store> opened(const std::filesystem::path& directory,
                                        const internal::store_settings& settings = {}) {
  auto store = internal::open_store(directory, settings);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

// More readers than there are connections, while batches are written: each sees whole batches only, never fewer than
// before, and every statement it sees has its object.
TEST(store_threads, readers_beside_a_writer_see_whole_batches_with_their_objects) {
  const temporary_directory dir;
  internal::store_settings settings;
  settings.segment_bytes_max = 4096;
  settings.wal_checkpoint_pages = 16;
  const auto store = opened(dir / "s", settings);
  std::atomic<bool> written = false;
  std::atomic<int> faults = 0;
  std::vector<thread> readers;
  for (int r = 0; r < 10; ++r) {
    readers.emplace_back("reader", [&, r] {
      std::size_t seen = 0;
      for (bool last = false; !last;) {
        last = written.load(std::memory_order_acquire);  // pairs with the store below: then all batches are there
        const totals t = totals_of(*store);
        const std::vector<row> rows =
            rows_of(*store, r % 2 == 0 ? "SELECT * FROM *" : "SELECT * FROM a.* WHERE tag != x");
        if (rows.size() % batch_size != 0 || rows.size() < seen || rows.size() < t.statements) ++faults;
        seen = rows.size();
        if (rows.empty()) continue;
        const row& newest = rows.back();
        const auto what = decode_statement(newest.encoded);
        if (!store->read_object(what->object)) ++faults;
        const digest id = newest.id.hash();
        if (!store->read_statements({&id, 1}) || !store->missing_statements({&id, 1})->empty()) ++faults;
      }
      if (seen != 12 * batch_size) ++faults;
    });
  }
  for (int i = 0; i < 12; ++i)
    write_one(*store, sealed(records_of("b" + std::to_string(i) + ".", batch_size), i % 2 == 0 ? "a.x" : "a.y"));
  written.store(true, std::memory_order_release);
  for (thread& t : readers) t.join();
  EXPECT_EQ(faults, 0);
}

TEST(store_threads, writers_queue_and_each_statement_enters_once) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  std::atomic<std::uint64_t> entered = 0, here = 0;
  std::vector<thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back("writer", [&, w] {
      for (int i = 0; i < 8; ++i) {
        const receipt done = write_one(*store, sealed(records_of("r" + std::to_string((i + w) % 8) + ".", 20)));
        entered += done.statements;
        here += done.already_here;
      }
    });
  }
  for (thread& t : writers) t.join();
  EXPECT_EQ(entered, 160u);
  EXPECT_EQ(here, 3u * 160u);
  EXPECT_EQ(totals_of(*store).statements, 160u);
  EXPECT_TRUE(store->check()->none());
}

}  // namespace
}  // namespace weir::store
