#include <weir/node/remote.h>

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/flow/cancel_on.h>
#include <weir/flow/for_each.h>
#include <weir/flow/try_map.h>
#include <weir/node/messages.h>

namespace weir::node {
namespace {

using net::rsocket::payload;
using net::rsocket::requester;

payload request(std::string_view route, bytes data) { return {std::move(data), net::rsocket::route_metadata(route)}; }

// The one item of a response, its octets.
result<bytes> ask(const requester& whom, std::string_view route, bytes data) {
  WEIR_TRY(auto answer, flow::first(whom.request_response(request(route, std::move(data)))));
  if (!answer) return fail(errc::unexpected, fmt::format("{} answered {} with nothing", whom.peer(), route));
  return std::move(answer->data);
}

flow::any_flow<store::row> rows(const requester& whom, const store::query& asked) {
  return whom.request_stream(request(query_route, to_bytes(asked.text()))) |
         flow::try_map([](payload&& item) { return decode_row(item.data); });
}

}  // namespace

result<net::endpoint> control_endpoint(const std::filesystem::path& directory) {
  auto at = net::endpoint::parse("unix:" + (directory / "control.sock").string());
  if (!at)
    return fail(at.error().code,
                fmt::format("the data directory '{}' has no room for a node's socket: {}; use a shorter "
                            "path, a relative one or a symbolic link",
                            directory.string(), at.error().message));
  return at;
}

result<std::unique_ptr<remote>> remote::connect(const std::filesystem::path& directory) {
  const auto at = control_endpoint(directory);
  std::error_code unreadable;
  // Where no socket can be, no node runs.
  if (!at || !std::filesystem::exists(at->unix_path, unreadable)) return std::unique_ptr<remote>();
  auto loop = std::make_unique<net::loop>("weir-control");
  auto node = requester::connect(*loop, *at);
  // A socket that nobody listens on was left by a node that was killed.
  if (!node && node.error().code == errc::unreachable) return std::unique_ptr<remote>();
  if (!node) return std::move(node).error();
  return std::unique_ptr<remote>(new remote(std::move(loop), *std::move(node)));
}

remote::remote(std::unique_ptr<net::loop> loop, requester node) : loop_(std::move(loop)), node_(std::move(node)) {}

result<bytes> remote::ask(std::string_view route, bytes request) { return node::ask(node_, route, std::move(request)); }

result<status> remote::get_status() {
  WEIR_TRY(bytes answer, ask(status_route, {}));
  return decode_status(answer);
}

result<published> remote::publish(publication what) {
  WEIR_TRY(bytes answer, ask(publish_route, encode(what)));
  return decode_published(answer);
}

flow::any_flow<store::row> remote::query(const store::query& asked) { return rows(node_, asked); }

result<bytes> remote::get(const cid& id) { return ask(get_route, to_bytes(id.text())); }

merge::outcome remote::merge(const net::endpoint& peer, const store::query& asked, const merge::options& how) {
  merge::outcome end;
  auto progress =
      node_.request_stream(request(merge_route, encode(merge_order{peer.text(), asked.text(), how.lanes}))) |
      flow::try_map([](payload&& item) { return decode_progress(item.data); }) | flow::cancel_on(how.stop);
  auto ended = flow::for_each(std::move(progress), [&](merge::progress&& so_far) {
    end.done = so_far;
    if (how.on_progress) how.on_progress(so_far);
  });
  if (!ended) end.failure = std::move(ended).error();
  return end;
}

result<store::damage> remote::check() {
  WEIR_TRY(bytes answer, ask(check_route, {}));
  return decode_damage(answer);
}

result<peer> peer::connect(net::loop& on, const net::endpoint& to) {
  WEIR_TRY(requester connected, requester::connect(on, to));
  return peer(std::move(connected));
}

result<identity> peer::id() const {
  WEIR_TRY(bytes answer, ask(to_, id_route, {}));
  return decode_identity(answer);
}

flow::any_flow<store::row> peer::query(const store::query& asked) const { return rows(to_, asked); }

result<bytes> peer::get(const cid& id) const { return ask(to_, get_route, to_bytes(id.text())); }

}  // namespace weir::node
