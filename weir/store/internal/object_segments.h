#pragma once

// Objects, in append-only files of one data directory.
//
//   objects/00000001.seg
//   +----------------+---------+---------+   +--------+---------+-------+--------+------+
//   | "weirseg\0"  8 | version | number  |   | length | crc32c  | codec | digest | data |   next record …
//   |                |   u32 4 |   u32 4 |   |  u32 4 |  u32 4  |  u8 1 |     32 |      |
//   +----------------+---------+---------+   +--------+---------+-------+--------+------+
//    header, 16 octets                        record, 41 + length octets; numbers lowest octet first;
//                                             the checksum is over codec, digest and data
//
// Invariants
//   - What is committed is a length: the `object_mark` that the statement index keeps in its own transaction. Records
//     before it are whole and are never written again. Whatever is behind it was never acknowledged; opening cuts it
//     off, and so does a failed write.
//   - A record is found through a table in memory, rebuilt at opening by reading the records' heads. The table holds
//     only committed records: `append` stages, `publish` makes visible.
//   - The table narrows down by 8 octets of the digest; the record itself says whether it is the right one.
//
// Threads  reads from any thread; append, publish and roll_back by one thread at a time, the writer.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include <weir/core/cid.h>
#include <weir/core/file.h>
#include <weir/core/result.h>
#include <weir/core/set_hash.h>
#include <weir/store/batch.h>
#include <weir/store/internal/object_index.h>
#include <weir/store/internal/store_settings.h>

namespace weir::store::internal {

/// The end of the last committed record.
struct object_mark {
  std::uint32_t segment = 0;  ///< from 1; 0 while there is none
  std::uint64_t length = 0;   ///< octets of that segment, header included

  friend bool operator==(const object_mark&, const object_mark&) = default;
};

/// Counts and hashes of a set of objects.
struct object_totals {
  set_hash set;
  std::uint64_t bytes = 0;

  void add(const cid& id, std::uint64_t length);
};

class object_segments {
 public:
  static constexpr std::size_t header_size = 16;
  static constexpr std::size_t record_head_size = 41;
  static constexpr std::uint32_t version = 1;

  /// Opens the segments up to the mark and cuts off what is behind it.
  ///   Errors  corrupt, with file and offset, if less is there than the mark says or a record's head is broken.
  static result<std::unique_ptr<object_segments>> open(const std::filesystem::path& directory, object_mark committed,
                                                       const store_settings& settings);

  /// Whether any segment in the directory holds more than its header.
  static result<bool> has_records(const std::filesystem::path& directory);

  [[nodiscard]] result<bool> contains(const cid& id) const;
  /// The object, its checksum verified: corrupt with file and offset if it does not hold, not_found if it is not here.
  [[nodiscard]] result<bytes> read(const cid& id) const;

  /// Writes objects that are not here yet, and syncs. They stay invisible until publish(). After an error nothing of
  /// them is left.
  result<void> append(std::span<const block* const> objects);
  /// Where the records end with what append wrote: what the index commits before publish().
  [[nodiscard]] object_mark staged_end() const noexcept { return end_; }
  /// Makes what append wrote visible. Cannot fail.
  void publish();
  /// Takes back what append wrote. If that fails, appending fails from then on and says why.
  void roll_back();
  /// Leaves what append wrote where it is, neither visible nor taken back: whether the index has committed it is not
  /// known. Appending fails from then on.
  void give_up(const error& why);

  [[nodiscard]] object_mark committed() const;

  /// One record as it is on the disk, for check().
  struct found {
    cid id;
    bytes_view data;
    bool sound = false;  ///< checksum and hash hold
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
  };
  /// Reads every record before the mark, in order. Stops at a broken head: corrupt, with file and offset.
  result<void> read_all(object_mark until, const std::function<void(const found&)>& visit) const;

  [[nodiscard]] std::filesystem::path path_of(std::uint32_t segment) const;

 private:
  object_segments(std::filesystem::path directory, const store_settings& settings);

  struct staged_record {
    std::uint64_t key;
    object_place where;
  };

  [[nodiscard]] std::uint64_t key_of(const cid& id) const noexcept;
  result<void> load(object_mark committed);
  result<void> load_segment(std::uint32_t number, std::uint64_t length);
  result<void> cut_behind(object_mark committed);
  result<void> append_all(std::span<const block* const> objects);
  result<void> begin_segment();
  result<void> flush();
  result<std::shared_ptr<const file>> segment(std::uint32_t number) const;
  std::vector<object_place> candidates(const cid& id) const;

  const std::filesystem::path directory_;
  const store_settings settings_;

  mutable std::shared_mutex mutex_;  // guards index_, files_ and committed_
  object_index index_;
  std::vector<std::shared_ptr<file>> files_;  // files_[0] is segment 1
  object_mark committed_;

  // The writer's own.
  object_mark end_;
  std::vector<staged_record> staged_;
  bytes buffer_;
  bool made_file_ = false;
  result<void> usable_;  // the reason why nothing can be written any more
};

}  // namespace weir::store::internal
