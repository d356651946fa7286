#include <weir/store/internal/object_segments.h>

#include <algorithm>
#include <cassert>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weir/core/crc32c.h>
#include <weir/core/endian.h>
#include <weir/core/limits.h>
#include <weir/core/random.h>
#include <weir/core/sha256.h>

namespace weir::store::internal {

namespace {

constexpr std::array<std::uint8_t, 8> magic{'w', 'e', 'i', 'r', 's', 'e', 'g', 0};

// One write to the disk; larger ones gain nothing, and the buffer is kept.
constexpr std::size_t write_bytes = 4 * limits::MiB;
// One read while scanning.
constexpr std::size_t scan_bytes = 256 * limits::KiB;

constexpr std::size_t checked_from = 8;  // the checksum begins behind length and itself

struct record_head {
  std::uint32_t length;
  std::uint32_t checksum;
  std::uint8_t kind;
  digest hash;
};

record_head read_head(const std::uint8_t* at) {
  record_head head{};
  head.length = load_little<std::uint32_t>(at);
  head.checksum = load_little<std::uint32_t>(at + 4);
  head.kind = at[8];
  std::copy_n(at + 9, head.hash.size(), head.hash.begin());
  return head;
}

std::optional<codec> codec_of(std::uint8_t kind) noexcept {
  if (kind == static_cast<std::uint8_t>(codec::raw)) return codec::raw;
  if (kind == static_cast<std::uint8_t>(codec::dag_cbor)) return codec::dag_cbor;
  return std::nullopt;
}

void append_record(bytes& to, const block& object) {
  const std::size_t at = to.size();
  to.resize(at + object_segments::record_head_size);
  std::uint8_t* const head = to.data() + at;
  store_little(head, static_cast<std::uint32_t>(object.data.size()));
  head[8] = static_cast<std::uint8_t>(object.id.kind());
  std::copy(object.id.hash().begin(), object.id.hash().end(), head + 9);
  const std::uint32_t of_head = crc32c({head + checked_from, object_segments::record_head_size - checked_from});
  store_little(head + 4, crc32c(object.data, of_head));
  weir::append(to, object.data);
}

error broken_head(const std::filesystem::path& path, std::uint64_t offset, std::string_view why) {
  return fail(errc::corrupt,
              fmt::format("'{}' is damaged at offset {}: {}; restore the data directory from a copy, or move it away "
                          "and merge again",
                          path.native(), offset, why));
}

std::array<std::uint8_t, object_segments::header_size> header_of(std::uint32_t number) {
  std::array<std::uint8_t, object_segments::header_size> header;
  std::copy(magic.begin(), magic.end(), header.begin());
  store_little(header.data() + 8, object_segments::version);
  store_little(header.data() + 12, number);
  return header;
}

result<void> check_header(const file& of, std::uint32_t number) {
  std::array<std::uint8_t, object_segments::header_size> header;
  WEIR_CHECK(of.read_at(0, header));
  if (!std::equal(magic.begin(), magic.end(), header.begin()))
    return broken_head(of.path(), 0, "it does not begin as an object segment does");
  if (const auto version = load_little<std::uint32_t>(header.data() + 8); version > object_segments::version)
    return fail(errc::unsupported, fmt::format("'{}' has version {} of the segment format; this program reads version "
                                               "{}: use a newer one",
                                               of.path().native(), version, object_segments::version));
  if (!std::ranges::equal(header, header_of(number)))
    return broken_head(of.path(), 8, fmt::format("it is not segment {} of version 1", number));
  return {};
}

// Walks the records of a segment from head to head, reading the file in large pieces where records are small and
// skipping over the data of large ones.
class head_walk {
 public:
  head_walk(const file& of, std::uint64_t length) : of_(of), length_(length) {}

  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ == length_; }

  /// The head at at(); the record is then known to lie within the length.
  result<record_head> head() {
    constexpr std::size_t size = object_segments::record_head_size;
    if (length_ - at_ < size) return broken_head(of_.path(), at_, "the file ends within a record");
    WEIR_CHECK(hold(size));
    const record_head head = read_head(window_.data() + (at_ - window_at_));
    if (head.length > limits::object_bytes_max || head.length > length_ - at_ - size || !codec_of(head.kind))
      return broken_head(of_.path(), at_, "what is there is not the head of a record");
    return head;
  }

  /// The whole record at at(), whose head says it is so long.
  result<bytes_view> record(std::uint32_t length) {
    const std::size_t size = object_segments::record_head_size + length;
    WEIR_CHECK(hold(size));
    return bytes_view(window_.data() + (at_ - window_at_), size);
  }

  void skip(std::uint32_t length) noexcept { at_ += object_segments::record_head_size + length; }

 private:
  // Makes sure that so many octets from at_ on are in the window.
  result<void> hold(std::size_t size) {
    if (at_ >= window_at_ && at_ + size <= window_at_ + window_.size()) return {};
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::max(size, scan_bytes), length_ - at_)));
    window_at_ = at_;
    return of_.read_at(at_, window_);
  }

  const file& of_;
  const std::uint64_t length_;
  std::uint64_t at_ = object_segments::header_size;
  bytes window_;
  std::uint64_t window_at_ = 0;
};

bool checksum_holds(bytes_view record) {
  return crc32c(record.subspan(checked_from)) == load_little<std::uint32_t>(record.data() + 4);
}

bool is_record_of(const record_head& head, const cid& id) noexcept {
  return head.hash == id.hash() && head.kind == static_cast<std::uint8_t>(id.kind());
}

}  // namespace

void object_totals::add(const cid& id, std::uint64_t length) {
  // The same octets under two codecs are two objects; the last octet keeps them apart in the sum.
  digest element = id.hash();
  element.back() ^= static_cast<std::uint8_t>(id.kind());
  set.add(element);
  bytes += length;
}

object_segments::object_segments(std::filesystem::path directory, const store_settings& settings)
    : directory_(std::move(directory)), settings_(settings), index_(randomness::system().next()) {}

std::filesystem::path object_segments::path_of(std::uint32_t segment) const {
  return directory_ / fmt::format("{:08}.seg", segment);
}

std::uint64_t object_segments::key_of(const cid& id) const noexcept {
  return load_big<std::uint64_t>(id.hash().data()) & settings_.key_mask;
}

// --- Opening. ---

result<std::unique_ptr<object_segments>> object_segments::open(const std::filesystem::path& directory,
                                                               object_mark committed, const store_settings& settings) {
  std::unique_ptr<object_segments> made(new object_segments(directory, settings));
  WEIR_CHECK(made->load(committed));
  WEIR_CHECK(made->cut_behind(committed));
  return made;
}

result<bool> object_segments::has_records(const std::filesystem::path& directory) {
  const object_segments nobody(directory, {});
  const std::filesystem::path first = nobody.path_of(1);
  std::error_code none;
  if (!std::filesystem::exists(first, none)) return false;
  WEIR_TRY(const file opened, file::open(first, file::mode::read));
  WEIR_TRY(const std::uint64_t size, opened.size());
  return size > header_size;
}

result<void> object_segments::load(object_mark committed) {
  for (std::uint32_t number = 1; number <= committed.segment; ++number) {
    const bool last = number == committed.segment;
    std::error_code none;
    if (!std::filesystem::exists(path_of(number), none))
      return fail(errc::corrupt, fmt::format("'{}' is missing; restore the data directory from a copy, or move it away "
                                             "and merge again",
                                             path_of(number).native()));
    WEIR_TRY(file opened, file::open(path_of(number), last ? file::mode::append_or_create : file::mode::read));
    WEIR_TRY(const std::uint64_t size, opened.size());
    files_.push_back(std::make_shared<file>(std::move(opened)));
    if (last && size < committed.length)
      return broken_head(path_of(number), size,
                         fmt::format("the file ends here, but {} octets of it were committed", committed.length));
    WEIR_CHECK(load_segment(number, last ? committed.length : size));
  }
  committed_ = end_ = committed;
  return {};
}

result<void> object_segments::load_segment(std::uint32_t number, std::uint64_t length) {
  const file& of = *files_[number - 1];
  if (length < header_size) return broken_head(of.path(), length, "the file ends within its header");
  WEIR_CHECK(check_header(of, number));
  head_walk walk(of, length);
  while (!walk.at_end()) {
    WEIR_TRY(const record_head head, walk.head());
    index_.insert(load_big<std::uint64_t>(head.hash.data()) & settings_.key_mask,
                  {number, static_cast<std::uint32_t>(walk.at()), head.length});
    walk.skip(head.length);
  }
  return {};
}

// Empties the segments behind the mark and cuts its own segment there: what a crash or a failed write left behind.
result<void> object_segments::cut_behind(object_mark committed) {
  std::error_code none;
  for (std::uint32_t number = committed.segment + 1; std::filesystem::exists(path_of(number), none); ++number) {
    WEIR_TRY(file opened, file::open(path_of(number), file::mode::append_or_create));
    WEIR_CHECK(opened.truncate(0));
  }
  if (committed.segment == 0) return {};
  file& last = *files_[committed.segment - 1];
  WEIR_TRY(const std::uint64_t size, last.size());
  if (size > committed.length) WEIR_CHECK(last.truncate(committed.length));
  return {};
}

// --- Reading. ---

object_mark object_segments::committed() const {
  const std::shared_lock lock(mutex_);
  return committed_;
}

std::vector<object_place> object_segments::candidates(const cid& id) const {
  std::vector<object_place> places;
  const std::shared_lock lock(mutex_);
  index_.find(key_of(id), [&](const object_place& where) {
    places.push_back(where);
    return true;
  });
  return places;
}

result<std::shared_ptr<const file>> object_segments::segment(std::uint32_t number) const {
  const std::shared_lock lock(mutex_);
  assert(number >= 1 && number <= files_.size());
  return std::shared_ptr<const file>(files_[number - 1]);
}

result<bool> object_segments::contains(const cid& id) const {
  for (const object_place& where : candidates(id)) {
    WEIR_TRY(const auto of, segment(where.segment));
    std::array<std::uint8_t, record_head_size> head;
    WEIR_CHECK(of->read_at(where.offset, head));
    if (is_record_of(read_head(head.data()), id)) return true;
  }
  return false;
}

result<bytes> object_segments::read(const cid& id) const {
  bytes record;
  for (const object_place& where : candidates(id)) {
    WEIR_TRY(const auto of, segment(where.segment));
    record.resize(record_head_size + where.length);
    WEIR_CHECK(of->read_at(where.offset, record));
    const record_head head = read_head(record.data());
    if (!checksum_holds(record) || head.length != where.length)
      return broken_head(of->path(), where.offset, "the checksum of an object does not hold");
    if (!is_record_of(head, id)) continue;
    record.erase(record.begin(), record.begin() + record_head_size);
    return record;
  }
  return fail(errc::not_found, fmt::format("object {} is not here", id.text()));
}

result<void> object_segments::read_all(object_mark until, const std::function<void(const found&)>& visit) const {
  for (std::uint32_t number = 1; number <= until.segment; ++number) {
    WEIR_TRY(const auto of, segment(number));
    WEIR_TRY(const std::uint64_t size, of->size());
    const std::uint64_t length = number == until.segment ? until.length : size;
    if (size < length) return broken_head(of->path(), size, "the file ends before its committed end");
    WEIR_CHECK(check_header(*of, number));
    head_walk walk(*of, length);
    while (!walk.at_end()) {
      WEIR_TRY(const record_head head, walk.head());
      WEIR_TRY(const bytes_view record, walk.record(head.length));
      const bytes_view data = record.subspan(record_head_size);
      visit({cid(*codec_of(head.kind), head.hash), data, checksum_holds(record) && sha256(data) == head.hash, number,
             walk.at()});
      walk.skip(head.length);
    }
  }
  return {};
}

// --- Writing. ---

result<void> object_segments::append(std::span<const block* const> objects) {
  WEIR_CHECK(usable_);
  assert(staged_.empty() && end_ == committed_);
  if (objects.empty()) return {};
  auto written = append_all(objects);
  if (!written) roll_back();
  return written;
}

result<void> object_segments::append_all(std::span<const block* const> objects) {
  made_file_ = false;
  buffer_.clear();
  if (end_.segment == 0) WEIR_CHECK(begin_segment());
  staged_.reserve(objects.size());
  for (const block* object : objects) {
    const std::uint64_t size = record_head_size + object->data.size();
    if (end_.length + size > settings_.segment_bytes_max && end_.length > header_size) {
      WEIR_CHECK(flush());
      WEIR_CHECK(files_[end_.segment - 1]->sync());
      WEIR_CHECK(begin_segment());
    }
    staged_.push_back(
        {key_of(object->id),
         {end_.segment, static_cast<std::uint32_t>(end_.length), static_cast<std::uint32_t>(object->data.size())}});
    append_record(buffer_, *object);
    end_.length += size;
    if (buffer_.size() >= write_bytes) WEIR_CHECK(flush());
  }
  WEIR_CHECK(flush());
  WEIR_CHECK(files_[end_.segment - 1]->sync());
  if (made_file_) WEIR_CHECK(sync_directory(directory_));
  const std::unique_lock lock(mutex_);
  index_.reserve(staged_.size());
  return {};
}

result<void> object_segments::begin_segment() {
  const std::uint32_t number = end_.segment + 1;
  if (files_.size() < number) {
    WEIR_TRY(file opened, file::open(path_of(number), file::mode::append_or_create));
    auto shared = std::make_shared<file>(std::move(opened));
    const std::unique_lock lock(mutex_);
    files_.push_back(std::move(shared));
  }
  // Left over from a write that failed or a crash, it may hold something.
  WEIR_CHECK(files_[number - 1]->truncate(0));
  made_file_ = true;
  end_ = {number, header_size};
  weir::append(buffer_, header_of(number));  // the buffer is empty: the segment before has been flushed
  return {};
}

result<void> object_segments::flush() {
  const auto written = files_[end_.segment - 1]->append(buffer_);
  buffer_.clear();
  return written;
}

void object_segments::publish() {
  const std::unique_lock lock(mutex_);
  for (const staged_record& s : staged_) index_.insert(s.key, s.where);
  staged_.clear();
  committed_ = end_;
}

void object_segments::roll_back() {
  staged_.clear();
  buffer_.clear();
  end_ = committed_;
  for (std::size_t number = std::max<std::size_t>(committed_.segment, 1); number <= files_.size(); ++number) {
    const auto cut = files_[number - 1]->truncate(number == committed_.segment ? committed_.length : 0);
    if (!cut) return give_up(cut.error());  // the file's end is not where the next append would have to be
  }
}

void object_segments::give_up(const error& why) {
  usable_ = fail(why.code, fmt::format("nothing can be written until the store is opened again: {}", why.message),
                 why.system);
}

}  // namespace weir::store::internal
