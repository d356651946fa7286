#pragma once

// The rows of a query as a flow, read in pages.
//
// The rows of a plan come from cursors, one for each key of its source (one alone when it reads all rows). A cursor
// knows the next counter its key has; the cursors are merged by counter. A run is read from the first cursor up to where
// the second begins, so that keys whose rows lie apart cost one search a run, and keys whose rows alternate one a row.
//
// Between pulls nothing is open: a page is read in one short transaction on a borrowed connection, and the rest of what
// the flow keeps is 16 octets a cursor and the page. Rows never change and are never renumbered, so pages read at
// different times up to one counter are one snapshot.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/store/internal/index_reader.h>
#include <weir/store/internal/query_sql.h>
#include <weir/store/query.h>
#include <weir/store/statement_store.h>

namespace weir::store::internal {

class row_pages {
 public:
  static constexpr std::size_t page_rows_max = 256;
  static constexpr std::size_t page_bytes_max = 1 << 20;
  /// Counters that one transaction looks at; what it finds none in, it leaves again before it goes on.
  static constexpr std::uint64_t window = 32768;

  row_pages(std::shared_ptr<reader_pool> readers, query asked, std::uint64_t after, std::uint64_t upto)
      : readers_(std::move(readers)), asked_(std::move(asked)), after_(after), upto_(upto) {}

  /// The next rows, none only at the end.
  result<std::vector<row>> next();

 private:
  struct cursor {
    std::uint64_t next;  ///< a lower bound of the next counter of the key
    std::int64_t key;
  };

  result<void> begin(const sqlite_database& db);
  result<void> read_window(const sqlite_database& db, std::vector<row>& page, std::size_t& page_bytes);
  result<void> read_run(sqlite_statement& rows, const cursor& from, std::uint64_t upto, std::vector<row>& page,
                        std::size_t& page_bytes, std::uint64_t& reached);
  [[nodiscard]] bool is_full(const std::vector<row>& page, std::size_t page_bytes) const noexcept;

  std::shared_ptr<reader_pool> readers_;
  query asked_;
  std::uint64_t after_, upto_;
  std::optional<query_plan> plan_;
  std::vector<cursor> cursors_;  // a heap, the smallest `next` first
  std::uint64_t given_ = 0;
  std::uint64_t last_ = 0;  // counter of the last row given
};

/// The flow over those pages.
class select_flow {
 public:
  using value_type = row;

  explicit select_flow(std::unique_ptr<row_pages> pages) : pages_(std::move(pages)) {}

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    while (demand != 0) {
      if (at_ == page_.size()) {
        auto more = pages_->next();
        if (!more) return cx.fail(std::move(more).error());
        page_ = *std::move(more);
        at_ = 0;
        if (page_.empty()) return flow::step::done;
      }
      const std::size_t count = std::min(demand, page_.size() - at_);
      const std::span<row> run(page_.data() + at_, count);
      at_ += count;
      demand -= count;
      flow::emit_run(emit, run);
    }
    return flow::step::more;
  }

 private:
  std::unique_ptr<row_pages> pages_;
  std::vector<row> page_;
  std::size_t at_ = 0;
};

}  // namespace weir::store::internal
