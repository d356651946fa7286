#include <weir/store/internal/select_flow.h>

#include <algorithm>

#include <fmt/format.h>

namespace weir::store::internal {

namespace {

template <class Cursor>
bool is_later(const Cursor& a, const Cursor& b) noexcept {
  return a.next > b.next;
}

result<row> row_of(const sqlite_statement& rows) {
  row out;
  out.counter = static_cast<std::uint64_t>(rows.integer_at(0));
  digest id;
  const bytes_view id_octets = rows.blob_at(1), bundle_octets = rows.blob_at(2);
  if (id_octets.size() != id.size() || bundle_octets.size() != out.bundle.size())
    return fail(errc::corrupt, fmt::format("row {} of the statement index is damaged", out.counter));
  std::ranges::copy(id_octets, id.begin());
  std::ranges::copy(bundle_octets, out.bundle.begin());
  out.id = cid(codec::dag_cbor, id);
  out.encoded = to_bytes(rows.blob_at(3));
  return out;
}

}  // namespace

bool row_pages::is_full(const std::vector<row>& page, std::size_t page_bytes) const noexcept {
  return page.size() >= page_rows_max || page_bytes >= page_bytes_max ||
         (asked_.limit() && given_ + page.size() >= *asked_.limit());
}

result<std::vector<row>> row_pages::next() {
  std::vector<row> page;
  if (asked_.limit() && given_ >= *asked_.limit()) return page;
  std::size_t page_bytes = 0;
  while (page.empty() && (!plan_ || !cursors_.empty())) {
    WEIR_TRY(const reader_lease lease, readers_->borrow());
    WEIR_TRY(auto transaction, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
    if (!plan_) WEIR_CHECK(begin(lease.db()));
    WEIR_CHECK(read_window(lease.db(), page, page_bytes));
    WEIR_CHECK(transaction.commit());
  }
  given_ += page.size();
  return page;
}

result<void> row_pages::begin(const sqlite_database& db) {
  WEIR_TRY(plan_, plan(asked_, after_, upto_, readers_->keys(), db));
  last_ = plan_->after;
  if (plan_->after >= plan_->upto) return {};
  if (plan_->source == row_source::all) {
    cursors_.push_back({plan_->after + 1, 0});
    return {};
  }
  WEIR_TRY(auto peek, db.prepare(plan_->peek_text()));
  for (const std::int64_t key : plan_->keys) {
    peek.reset();
    peek.integer(key).integer(static_cast<std::int64_t>(plan_->after));
    WEIR_TRY(const bool row, peek.step());
    if (!row) continue;
    const auto first = static_cast<std::uint64_t>(peek.integer_at(0));
    if (first <= plan_->upto) cursors_.push_back({first, key});
  }
  std::make_heap(cursors_.begin(), cursors_.end(), is_later<cursor>);
  return {};
}

// Reads until the page is full, a window of counters has been looked at, or no cursor is left.
result<void> row_pages::read_window(const sqlite_database& db, std::vector<row>& page, std::size_t& page_bytes) {
  if (cursors_.empty()) return {};
  WEIR_TRY(auto rows, db.prepare(plan_->page_text()));
  WEIR_TRY(auto peek, db.prepare(plan_->peek_text()));
  const std::uint64_t window_end = std::min(plan_->upto, cursors_.front().next - 1 + window);
  while (!cursors_.empty() && cursors_.front().next <= window_end && !is_full(page, page_bytes)) {
    std::pop_heap(cursors_.begin(), cursors_.end(), is_later<cursor>);
    cursor first = cursors_.back();
    cursors_.pop_back();
    // Up to where the next cursor begins. Keys of refs may share a row; then the run is that row alone, and its second
    // coming is passed over below.
    std::uint64_t until = window_end;
    if (!cursors_.empty()) until = std::min(until, std::max(first.next, cursors_.front().next - 1));
    first.next = std::max(first.next, last_ + 1);
    std::uint64_t reached = until;
    if (first.next <= until) WEIR_CHECK(read_run(rows, first, until, page, page_bytes, reached));

    if (plan_->source == row_source::all) {
      first.next = reached + 1;
      if (reached >= plan_->upto) continue;
    } else {
      peek.reset();
      peek.integer(first.key).integer(static_cast<std::int64_t>(reached));
      WEIR_TRY(const bool row, peek.step());
      if (!row) continue;
      first.next = static_cast<std::uint64_t>(peek.integer_at(0));
      if (first.next > plan_->upto) continue;
    }
    cursors_.push_back(first);
    std::push_heap(cursors_.begin(), cursors_.end(), is_later<cursor>);
  }
  return {};
}

// The rows of one cursor from its next counter up to `upto`. `reached` is the counter up to which all have been read.
result<void> row_pages::read_run(sqlite_statement& rows, const cursor& from, std::uint64_t upto, std::vector<row>& page,
                                 std::size_t& page_bytes, std::uint64_t& reached) {
  std::size_t room = page_rows_max - page.size();
  if (asked_.limit())
    room = static_cast<std::size_t>(std::min<std::uint64_t>(room, *asked_.limit() - given_ - page.size()));
  rows.reset();
  if (plan_->source != row_source::all) rows.integer(from.key);
  rows.integer(static_cast<std::int64_t>(from.next - 1)).integer(static_cast<std::int64_t>(upto));
  plan_->where.bind_to(rows);
  rows.integer(static_cast<std::int64_t>(room));
  reached = upto;
  while (!is_full(page, page_bytes)) {
    WEIR_TRY(const bool found, rows.step());
    if (!found) return {};
    WEIR_TRY(row one, row_of(rows));
    page_bytes += one.encoded.size();
    last_ = reached = one.counter;
    page.push_back(std::move(one));
  }
  rows.reset();
  return {};
}

}  // namespace weir::store::internal
