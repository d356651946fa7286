#include <weir/node/engine.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>

namespace weir::node {

std::string_view version() noexcept { return WEIR_VERSION; }

bool is_data_directory(const std::filesystem::path& directory) {
  // The key is the last that is made of a new directory.
  std::error_code unreadable;
  return std::filesystem::exists(directory / "key", unreadable);
}

result<std::unique_ptr<engine>> engine::open(const std::filesystem::path& directory, clock& time) {
  // The store first: it takes the directory's lock, and only its holder may make the key.
  WEIR_TRY(auto store, store::statement_store::open(directory));
  WEIR_TRY(auto key, key_pair::load_or_create(directory / "key"));
  return std::unique_ptr<engine>(new engine(std::move(store), std::move(key), time));
}

engine::engine(std::unique_ptr<store::statement_store> store, key_pair key, clock& time)
    : store_(std::move(store)), key_(std::move(key)), time_(time) {}

engine::~engine() = default;

result<status> engine::get_status() {
  WEIR_TRY(store::totals holds, store_->count());
  return status{{key_.pub(), std::string(version())}, holds, {}};
}

result<published> engine::publish(publication what) {
  WEIR_CHECK(store::check_namespace(what.name_space));
  if (what.records.size() > limits::batch_statements_max)
    return fail(errc::too_large, fmt::format("{} records in one publication; at most {} are allowed",
                                             what.records.size(), limits::batch_statements_max));
  published done;
  if (!what.again) {
    WEIR_TRY(std::vector<bool> said, store_->already_said(what.records, what.name_space, key_.pub()));
    std::size_t at = 0;
    done.said_before = std::erase_if(what.records, [&](const store::record&) { return said[at++]; });
  }
  if (what.records.empty()) return done;
  WEIR_TRY(auto batch, store::seal(std::move(what.records), what.name_space, key_,
                                   static_cast<std::uint64_t>(std::max<std::int64_t>(1, time_.unix_s()))));
  done.ids.reserve(batch.statements().size());
  for (const auto& said : batch.statements()) done.ids.push_back(said.id.hash());
  WEIR_TRY(done.wrote, store_->write({&batch, 1}));
  return done;
}

flow::any_flow<store::row> engine::query(const store::query& asked) { return store_->select(asked); }

result<bytes> engine::get(const cid& id) {
  auto object = store_->read_object(id);
  if (object || object.error().code != errc::not_found || id.kind() != codec::dag_cbor) return object;
  const digest wanted[] = {id.hash()};
  if (auto statement = store_->read_statements(wanted)) return std::move(statement->front());
  if (auto bundle = store_->read_bundles(wanted)) return std::move(bundle->front());
  return fail(errc::not_found, fmt::format("no object, statement or bundle {} is here", id.text()));
}

merge::outcome engine::merge(const net::endpoint& peer, const store::query& asked, const merge::options& how) {
  auto connected = net::rsocket::requester::connect(loop_, peer);
  if (!connected) return {{}, std::move(connected).error()};
  return merge::merge_from(*connected, asked, *store_, how);
}

result<store::damage> engine::check() { return store_->check(); }

}  // namespace weir::node
