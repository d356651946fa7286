#include <cassert>
#include <future>

#include <fmt/format.h>

#include <weir/net/internal/connector.h>
#include <weir/net/rsocket/internal/counters_of.h>
#include <weir/net/rsocket/internal/requested_stream.h>
#include <weir/net/rsocket/internal/session.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket {

namespace {

void close_link(const std::shared_ptr<internal::link>& over) {
  over->post([over] {
    if (over->on_loop) {
      over->on_loop->close(fail(errc::disconnected, fmt::format("the connection to {} was closed here", over->peer())));
    }
  });
}

result<void> check(const setup& hello) {
  const auto is_time = [](std::uint32_t ms) { return ms > 0 && ms <= number_max; };
  if (!is_time(hello.keepalive_ms) || !is_time(hello.lifetime_ms)) {
    return fail(errc::invalid_argument, "the times of a setup are 1 to 2147483647 ms");
  }
  if (hello.data_mime.size() > 255 || hello.metadata_mime.size() > 255) {
    return fail(errc::invalid_argument, "a MIME type has at most 255 octets");
  }
  const std::size_t octets = hello.content.data.size() + (hello.content.metadata ? hello.content.metadata->size() : 0);
  if (octets > internal::setup_bytes_max - 1024) {  // what the other fields can take
    return fail(errc::too_large,
                fmt::format("the payload of a setup has at most {} octets", internal::setup_bytes_max - 1024));
  }
  return {};
}

}  // namespace

requester::internals::~internals() {
  if (closes) close_link(link);
}

requester::requester(std::shared_ptr<internals> inside) : inside_(std::move(inside)) {}

result<requester> requester::connect(loop& on, const endpoint& to, setup hello, std::chrono::milliseconds deadline,
                                     handlers serve) {
  assert(!on.is_this_thread() && "connect waits for the loop");
  WEIR_CHECK(check(hello));
  // Shared, because this thread may go on while the loop's is still inside set_value.
  const auto answer = std::make_shared<std::promise<result<std::shared_ptr<internal::link>>>>();
  net::internal::connect(on, to, deadline, [&, answer](result<net::internal::stream_socket> socket) {
    if (!socket) return answer->set_value(std::move(socket).error());
    internal::session_config how;
    how.hello = std::move(hello);
    how.serve = std::move(serve);
    how.counters = std::make_shared<net::internal::live_counters>();
    const auto begun = std::make_shared<internal::session>(on, *std::move(socket), to.text(), std::move(how));
    begun->start();
    answer->set_value(begun->linked());
  });
  WEIR_TRY(auto over, answer->get_future().get());
  return requester(std::make_shared<internals>(std::move(over), true));
}

reply requester::request_response(payload request) const {
  return internal::requested_flow(
      std::make_shared<internal::requested_stream>(inside_->link, frame_type::request_response, std::move(request), 1),
      inside_);
}

reply requester::request_stream(payload request, std::uint32_t window) const {
  return internal::requested_flow(std::make_shared<internal::requested_stream>(
                                      inside_->link, frame_type::request_stream, std::move(request), window),
                                  inside_);
}

counters requester::count() const { return internal::counters_of(inside_->link->counters()); }

std::string requester::peer() const { return inside_->link->peer(); }

void requester::close() const { close_link(inside_->link); }

}  // namespace weir::net::rsocket
