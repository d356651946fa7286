#include <weir/merge/source.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/merge/internal/lister.h>
#include <weir/merge/protocol.h>

namespace weir::merge {
namespace {

using net::rsocket::payload;
using net::rsocket::reply;

// How many payloads a reply reads ahead of its requester.
constexpr std::size_t payloads_ahead = 4;

// One of the replies a connection may have open; gives its place back when the reply is gone.
class place {
 public:
  static std::optional<place> take(std::shared_ptr<std::atomic<std::size_t>> open) {
    if (open->fetch_add(1, std::memory_order_relaxed) >= limits::fetches_max) {
      open->fetch_sub(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    return place(std::move(open));
  }
  place(place&&) noexcept = default;
  place& operator=(place&&) = delete;
  ~place() {
    if (open_) open_->fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  explicit place(std::shared_ptr<std::atomic<std::size_t>> open) : open_(std::move(open)) {}
  std::shared_ptr<std::atomic<std::size_t>> open_;
};

error too_many() {
  return fail(errc::refused, fmt::format("this connection has {} lists and fetches open already; wait for one to end",
                                         limits::fetches_max));
}

// Reads the blocks of one fetch from the store, a payload at a time.
class block_reader {
 public:
  block_reader(const store::statement_store& from, fetch_request asked, place held)
      : store_(&from), asked_(std::move(asked)), held_(std::move(held)) {}

  result<std::optional<payload>> operator()() {
    payload next;
    while (next.data.size() < limits::fetch_payload_bytes) {
      if (bundles_ < asked_.bundles.size()) {
        WEIR_CHECK(read(asked_.bundles, bundles_, bundles_at_once, next.data,
                        [&](auto ids) { return store_->read_bundles(ids); }));
      } else if (statements_ < asked_.statements.size()) {
        WEIR_CHECK(read(asked_.statements, statements_, statements_at_once, next.data,
                        [&](auto ids) { return store_->read_statements(ids); }));
      } else if (objects_ < asked_.objects.size()) {
        const cid& id = asked_.objects[objects_++];
        WEIR_TRY(bytes object, store_->read_object(id));
        append_section(next.data, id, object);
      } else {
        break;
      }
    }
    if (next.data.empty()) return std::optional<payload>{};
    return std::optional<payload>(std::move(next));
  }

 private:
  // So many that a read's cost is shared, so few that a payload stays near its size: a bundle is up to 40 KiB.
  static constexpr std::size_t bundles_at_once = 4, statements_at_once = 128;

  template <class Read>
  static result<void> read(const std::vector<digest>& ids, std::size_t& at, std::size_t at_once, bytes& to,
                           Read read_some) {
    const auto some = std::span(ids).subspan(at, std::min(at_once, ids.size() - at));
    WEIR_TRY(std::vector<bytes> blocks, read_some(some));
    for (std::size_t i = 0; i < some.size(); ++i) append_section(to, cid(codec::dag_cbor, some[i]), blocks[i]);
    at += some.size();
    return {};
  }

  const store::statement_store* store_;
  fetch_request asked_;
  place held_;
  std::size_t bundles_ = 0, statements_ = 0, objects_ = 0;  // how far the request is answered
};

}  // namespace

source::source(const store::statement_store& from, flow::executor& reader)
    : store_(from), reader_(reader), open_(std::make_shared<std::atomic<std::size_t>>(0)) {}

reply source::list(bytes_view request) {
  auto asked = decode_list_request(request);
  if (!asked) return flow::fail<payload>(std::move(asked).error());
  auto query = store::query::parse(asked->query);
  if (!query) return flow::fail<payload>(std::move(query).error());
  auto held = place::take(open_);
  if (!held) return flow::fail<payload>(too_many());
  // In this order: what is written between the two belongs to the count and not to the rows, never the other way round.
  auto rows = store_.select(*query, asked->after);
  auto now = store_.count();
  if (!now) return flow::fail<payload>(std::move(now).error());
  return internal::lister(std::move(rows), now->counter) | flow::map([held = *std::move(held)](listing&& some) {
           return payload{encode(some), {}};
         }) |
         flow::observe_on(reader_, {.capacity = payloads_ahead});
}

reply source::fetch(bytes_view request) {
  auto asked = decode_fetch_request(request);
  if (!asked) return flow::fail<payload>(std::move(asked).error());
  auto held = place::take(open_);
  if (!held) return flow::fail<payload>(too_many());
  return flow::generate(block_reader(store_, *std::move(asked), *std::move(held))) |
         flow::observe_on(reader_, {.capacity = payloads_ahead});
}

}  // namespace weir::merge
