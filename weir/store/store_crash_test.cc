// A store whose process or disk fails in the middle of something: what was acknowledged stays, the rest leaves no trace.

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <weir/core/file_faults.h>
#include <weir/core/hex.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/store/internal/store_impl.h>
#include <weir/store/testing/damage_files.h>
#include <weir/store/testing/lying_disk.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using namespace testing;
using weir::testing::temporary_directory;

constexpr std::size_t segment_header = 16, record_head = 41;

std::unique_ptr<statement_store> opened(const std::filesystem::path& directory,
                                        const internal::store_settings& settings = {}) {
  auto store = internal::open_store(directory, settings);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

bool is_sound(const statement_store& store) {
  const auto found = store.check();
  return found && found->none();
}

internal::store_settings small_segments() {
  internal::store_settings settings;
  settings.segment_bytes_max = 300;
  return settings;
}

// Fails chosen steps, and keeps a list of those that happened.
class faulty_disk final : public file_faults {
 public:
  std::vector<std::string> steps;
  std::function<answer(file_step, const std::filesystem::path&, std::uint64_t)> decide;

  answer before(file_step step, const std::filesystem::path& path, std::uint64_t octets) override {
    if (step != file_step::read) steps.push_back(std::string(to_string(step)) + ' ' + path.filename().string());
    return decide ? decide(step, path, octets) : answer{};
  }
};

// The worked example of docs/formats/segment.md; the checksum was computed by another program.
TEST(store_crash, a_segment_has_the_octets_of_the_documented_example) {
  const temporary_directory dir;
  write_one(*opened(dir / "s"), sealed({record_of("hello\n")}));
  EXPECT_EQ(to_hex(read_whole(dir / "s/objects/00000001.seg")),
            "7765697273656700"
            "01000000"
            "01000000"
            "06000000"
            "ad320a73"
            "55"
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
            "68656c6c6f0a");
}

// The moment between the sync of the objects and the commit of the statements: the directory is copied when the disk
// has been asked to sync, as a power cut there would leave it, then cut further at every octet of what was appended.
TEST(store_crash, objects_without_their_statements_are_gone_after_opening_whatever_was_written_of_them) {
  const temporary_directory dir;
  const verified_batch first = sealed(records_of("first", 3)), second = sealed(records_of("second", 3));
  totals before;
  std::size_t committed = 0;
  {
    const auto store = opened(dir / "s");
    write_one(*store, first);
    before = totals_of(*store);
    committed = std::filesystem::file_size(dir / "s/objects/00000001.seg");
    faulty_disk disk;
    disk.decide = [&](file_step step, const std::filesystem::path&, std::uint64_t) {
      if (step == file_step::sync) copy_store(dir / "s", dir / "crashed");
      return file_faults::answer{};
    };
    const scoped_file_faults installed(disk);
    write_one(*store, second);
  }
  const auto segment = dir / "crashed/objects/00000001.seg";
  const bytes whole = read_whole(segment);
  ASSERT_EQ(whole.size(), committed + 3 * (record_head + 7));
  for (std::size_t size = committed; size <= whole.size(); ++size) {
    copy_store(dir / "crashed", dir / "cut");
    write_whole(dir / "cut/objects/00000001.seg", bytes_view(whole).first(size));
    const auto store = opened(dir / "cut");
    ASSERT_EQ(totals_of(*store).statement_set, before.statement_set) << size;
    ASSERT_EQ(totals_of(*store).object_set, before.object_set) << size;
    ASSERT_EQ(store->read_object(second.objects()[0].id).error().code, errc::not_found) << size;
    ASSERT_TRUE(is_sound(*store)) << size;
    ASSERT_EQ(write_one(*store, second).objects, 3u) << size;
    ASSERT_TRUE(is_sound(*store)) << size;
  }
}

// Octets that a torn write left behind need not be a prefix of what was meant.
TEST(store_crash, garbage_behind_the_committed_end_is_cut_off) {
  const temporary_directory dir;
  { write_one(*opened(dir / "s"), sealed(records_of("r", 3))); }
  const auto segment = dir / "s/objects/00000001.seg";
  bytes octets = read_whole(segment);
  const std::size_t committed = octets.size();
  octets.resize(committed + 500, 0xee);
  write_whole(segment, octets);
  write_whole(dir / "s/objects/00000002.seg", bytes(100, 0xee));
  const auto store = opened(dir / "s");
  EXPECT_EQ(std::filesystem::file_size(segment), committed);
  EXPECT_EQ(std::filesystem::file_size(dir / "s/objects/00000002.seg"), 0u);
  EXPECT_TRUE(is_sound(*store));
}

// An acknowledged object is never cut off: less than was committed is damage, said with file and offset.
TEST(store_crash, a_segment_shorter_than_committed_is_corrupt_wherever_it_is_cut) {
  const temporary_directory dir;
  { write_one(*opened(dir / "s"), sealed(records_of("r", 3))); }
  const auto segment = dir / "s/objects/00000001.seg";
  const bytes whole = read_whole(segment);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_whole(segment, bytes_view(whole).first(size));
    const auto refused = statement_store::open(dir / "s");
    ASSERT_FALSE(refused) << size;
    ASSERT_EQ(refused.error().code, errc::corrupt) << size;
    ASSERT_NE(refused.error().message.find("00000001.seg' is damaged at offset " + std::to_string(size)),
              std::string::npos)
        << refused.error().message;
    ASSERT_EQ(std::filesystem::file_size(segment), size) << "the evidence was changed";
  }
  std::filesystem::remove(segment);
  EXPECT_EQ(statement_store::open(dir / "s").error().code, errc::corrupt);
  write_whole(segment, whole);
  EXPECT_TRUE(is_sound(*opened(dir / "s")));
}

TEST(store_crash, a_broken_head_names_file_and_offset) {
  const temporary_directory dir;
  { write_one(*opened(dir / "s"), sealed(records_of("r", 3))); }
  const auto segment = dir / "s/objects/00000001.seg";
  const bytes whole = read_whole(segment);
  const std::size_t second_record = segment_header + record_head + 2;
  for (const std::size_t at : {std::size_t{0}, std::size_t{12}, second_record + 3, second_record + 8}) {
    bytes changed = whole;
    changed[at] ^= 0x10;
    write_whole(segment, changed);
    const auto refused = statement_store::open(dir / "s");
    ASSERT_FALSE(refused) << at;
    ASSERT_EQ(refused.error().code, errc::corrupt) << at;
  }
  bytes newer = whole;
  newer[8] = 2;
  write_whole(segment, newer);
  EXPECT_EQ(statement_store::open(dir / "s").error().code, errc::unsupported);
}

TEST(store_crash, objects_fill_segment_after_segment_and_read_back_after_opening) {
  const temporary_directory dir;
  const verified_batch batch = sealed(records_of("r", 20));
  {
    const auto store = opened(dir / "s", small_segments());
    write_one(*store, batch);
    EXPECT_TRUE(is_sound(*store));
  }
  EXPECT_TRUE(std::filesystem::exists(dir / "s/objects/00000003.seg"));
  const auto store = opened(dir / "s", small_segments());
  for (const block& object : batch.objects()) EXPECT_EQ(*store->read_object(object.id), object.data);
  write_one(*store, sealed(records_of("s", 20)));
  EXPECT_TRUE(is_sound(*store));
}

// Objects must be durable before any statement names them, and a new file's name too.
TEST(store_crash, objects_and_their_new_files_are_synced_before_the_index_is_touched) {
  const temporary_directory dir;
  const auto store = opened(dir / "s", small_segments());
  const auto index_size = [&] { return std::filesystem::file_size(dir / "s/statements.db-wal"); };
  write_one(*store, sealed(records_of("r", 1)));
  const auto before = index_size();
  faulty_disk disk;
  disk.decide = [&](file_step step, const std::filesystem::path&, std::uint64_t) {
    if (step != file_step::read) {
      EXPECT_EQ(index_size(), before) << to_string(step);
    }
    return file_faults::answer{};
  };
  {
    const scoped_file_faults installed(disk);
    write_one(*store, sealed(records_of("s", 8)));
  }
  EXPECT_GT(index_size(), before);
  EXPECT_EQ(disk.steps, (std::vector<std::string>{"append 00000001.seg", "sync 00000001.seg", "open 00000002.seg",
                                                  "truncate 00000002.seg", "append 00000002.seg", "sync 00000002.seg",
                                                  "sync_directory objects"}));
}

// Every step of a write fails once, in every way a step can fail; each time the write is refused as a whole, the store
// goes on, and the next write succeeds, here and after opening again.
TEST(store_crash, a_write_refused_at_any_step_leaves_no_trace_and_the_next_one_succeeds) {
  const verified_batch first = sealed(records_of("first", 3)), second = sealed(records_of("second", 9));
  for (std::size_t failing = 0;; ++failing) {
    const temporary_directory dir;
    auto store = opened(dir / "s", small_segments());
    write_one(*store, first);
    const totals before = totals_of(*store);
    faulty_disk disk;
    std::size_t step_number = 0;
    disk.decide = [&](file_step step, const std::filesystem::path&, std::uint64_t octets) {
      if (step == file_step::read) return file_faults::answer{};
      return step_number++ == failing ? file_faults::answer{ENOSPC, static_cast<std::size_t>(octets / 2)}
                                      : file_faults::answer{};
    };
    bool failed = false;
    {
      const scoped_file_faults installed(disk);
      const auto refused = store->write({&second, 1});
      failed = !refused;
      if (failed) {
        EXPECT_EQ(refused.error().code, errc::disk_full) << failing;
      }
    }
    if (!failed) {
      EXPECT_GT(failing, 6u);  // there were that many steps to fail
      return;
    }
    ASSERT_EQ(totals_of(*store).statement_set, before.statement_set) << failing;
    ASSERT_TRUE(is_sound(*store)) << failing;
    ASSERT_EQ(store->missing_objects(std::vector<cid>{second.objects()[0].id})->size(), 1u) << failing;
    if (failing % 2 == 1) {
      store.reset();
      store = opened(dir / "s", small_segments());
    }
    ASSERT_EQ(write_one(*store, second).statements, 9u) << failing;
    ASSERT_TRUE(is_sound(*store)) << failing;
    store.reset();
    ASSERT_TRUE(is_sound(*opened(dir / "s", small_segments()))) << failing;
  }
}

// When even the cut back fails, the file's end is not known any more; writing on would put objects where nobody finds
// them.
TEST(store_crash, after_a_failed_cut_nothing_is_written_until_the_store_is_opened_again) {
  const temporary_directory dir;
  auto store = opened(dir / "s");
  write_one(*store, sealed(records_of("first", 3)));
  const verified_batch second = sealed(records_of("second", 3));
  {
    faulty_disk disk;
    disk.decide = [](file_step step, const std::filesystem::path&, std::uint64_t octets) {
      if (step == file_step::append) return file_faults::answer{ENOSPC, static_cast<std::size_t>(octets / 2)};
      return file_faults::answer{step == file_step::truncate ? EIO : 0, 0};
    };
    const scoped_file_faults installed(disk);
    EXPECT_EQ(store->write({&second, 1}).error().code, errc::disk_full);
  }
  const auto refused = store->write({&second, 1});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("opened again"), std::string::npos) << refused.error().message;
  EXPECT_EQ(rows_of(*store, "SELECT * FROM *").size(), 3u);
  store.reset();
  store = opened(dir / "s");
  EXPECT_EQ(write_one(*store, second).statements, 3u);
  EXPECT_TRUE(is_sound(*store));
}

// The index runs out of room after the objects have found theirs.
TEST(store_crash, an_index_without_room_is_disk_full_and_takes_the_objects_back) {
  const temporary_directory dir;
  internal::store_settings settings;
  settings.database_pages_max = 60;
  auto store = opened(dir / "s", settings);
  std::uint64_t acknowledged = 0;
  totals before;
  for (int i = 0;; ++i) {
    ASSERT_LT(i, 1000);
    before = totals_of(*store);
    const verified_batch batch = sealed(records_of("batch" + std::to_string(i) + ".", 100));
    const auto done = store->write({&batch, 1});
    if (!done) {
      EXPECT_EQ(done.error().code, errc::disk_full) << done.error().message;
      break;
    }
    acknowledged += done->statements;
  }
  ASSERT_GT(acknowledged, 0u);
  EXPECT_EQ(totals_of(*store).object_set, before.object_set);
  EXPECT_EQ(rows_of(*store, "SELECT * FROM *").size(), acknowledged);
  EXPECT_TRUE(is_sound(*store));
  const verified_batch known = sealed(records_of("batch0.", 100));
  EXPECT_EQ(write_one(*store, known).already_here, 100u);  // what needs no room still works
  store.reset();
  store = opened(dir / "s");
  EXPECT_EQ(rows_of(*store, "SELECT * FROM *").size(), acknowledged);
  write_one(*store, sealed(records_of("more", 100)));
  EXPECT_TRUE(is_sound(*store));
}

// The log of the index was written, its sync failed: it may hold the whole transaction or not, so the objects must stay
// for the case that it does, and nothing may be written over them.
TEST(store_crash, a_commit_in_doubt_is_decided_by_opening_again_and_nothing_is_written_before) {
  const temporary_directory dir;
  const verified_batch first = sealed(records_of("first", 3)), second = sealed(records_of("second", 3));
  {
    lying_disk disk;
    auto store = opened(dir / "s");
    write_one(*store, first);
    const auto segment = dir / "s/objects/00000001.seg";
    const auto committed = std::filesystem::file_size(segment);
    disk.fail_syncs(true);
    const auto failed = store->write({&second, 1});
    disk.fail_syncs(false);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, errc::io) << failed.error().message;
    EXPECT_GT(std::filesystem::file_size(segment), committed);
    const auto refused = store->write({&second, 1});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("opened again"), std::string::npos) << refused.error().message;
    EXPECT_EQ(rows_of(*store, "SELECT * FROM *").size(), 3u);
    EXPECT_EQ(store->missing_objects(std::vector<cid>{second.objects()[0].id})->size(), 1u);
    copy_store(dir / "s", dir / "crashed");
  }
  for (const char* name : {"crashed", "s"}) {
    const auto store = opened(dir / name);
    const std::uint64_t statements = totals_of(*store).statements;
    EXPECT_TRUE(statements == 3 || statements == 6) << statements;
    EXPECT_TRUE(is_sound(*store)) << name;
    const receipt done = write_one(*store, second);
    EXPECT_EQ(done.statements + done.already_here, 3u);
    EXPECT_EQ(totals_of(*store).statements, 6u);
    EXPECT_TRUE(is_sound(*store)) << name;
  }
}

}  // namespace
}  // namespace weir::store
