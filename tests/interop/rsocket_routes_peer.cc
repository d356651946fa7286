// Weir's side of the RSocket interoperability tests.
//
//   rsocket_routes_peer serve           listens on a free port, says "listening 127.0.0.1:PORT", and serves until its input ends:
//       echo     response: the request's data and metadata
//       pattern  response: as many octets as the data says, octet i being i modulo 251
//       range    stream: the numbers below the one in the data, as text
//       endless  stream: the same without end;   destroyed  response: how many endless streams have been destroyed
//       broken   stream: one item, then a failure `corrupt`
//       mirror   stream: what the client itself answers to the same request
//   rsocket_routes_peer ask HOST:PORT   asks a server of the same routes, and says what came, line by line
#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/net/loop.h>
#include <weir/net/rsocket/rsocket.h>

namespace {

using namespace weir;
using namespace weir::net;
using namespace weir::net::rsocket;

payload text(std::string_view data) { return {to_bytes(data), std::nullopt}; }
payload routed(std::string_view route, std::string_view data = {}) { return {to_bytes(data), route_metadata(route)}; }
std::string text_of(const payload& p) { return std::string(as_text(p.data)); }

std::atomic<int> destroyed = 0;

/// Counts when it goes, unless it was moved from.
struct mourner {
  mourner() = default;
  mourner(mourner&& other) noexcept : lives(std::exchange(other.lives, false)) {}
  mourner& operator=(mourner&&) = delete;
  ~mourner() {
    if (lives) destroyed.fetch_add(1);
  }
  bool lives = true;
};

reply numbers_below(std::uint64_t end) {
  return flow::generate([next = std::uint64_t{0}, end]() mutable -> std::optional<payload> {
    if (next == end) return std::nullopt;
    return text(std::to_string(next++));
  });
}

reply pattern(std::size_t size) {
  payload p{bytes(size), std::nullopt};
  for (std::size_t i = 0; i < size; ++i) p.data[i] = static_cast<std::uint8_t>(i % 251);
  return flow::just(std::move(p));
}

handlers routes() {
  // The way back to this client, once it is there.
  const auto back = std::make_shared<std::optional<requester>>();
  const auto answer = [back](payload request) -> reply {
    const auto route = route_of(request.metadata.value_or(bytes{}));
    if (!route) return flow::fail<payload>(route.error());
    const std::string data = text_of(request);
    if (*route == "echo") return flow::just(std::move(request));
    if (*route == "pattern") return pattern(std::stoul(data));
    if (*route == "range") return numbers_below(std::stoull(data));
    if (*route == "destroyed") return flow::just(text(std::to_string(destroyed.load())));
    if (*route == "mirror") return (*back)->request_stream(std::move(request), 8);
    if (*route == "endless") {
      return flow::generate([next = std::uint64_t{0}, life = mourner()]() mutable -> std::optional<payload> {
        return text(std::to_string(next++));
      });
    }
    if (*route == "broken") {
      return flow::generate([left = 1]() mutable -> result<std::optional<payload>> {
        if (left-- > 0) return std::optional(text("good"));
        return weir::fail(errc::corrupt, "the rest is broken");
      });
    }
    return flow::fail<payload>(weir::fail(errc::not_found, "no route " + *route));
  };
  handlers h;
  h.request_response = answer;
  h.request_stream = answer;
  h.opened = [back](requester r) { back->emplace(std::move(r)); };
  return h;
}

int serve() {
  loop l;
  server::options how;
  how.log = [](const std::string& line) { std::cerr << line << std::endl; };
  const auto listening = server::listen(
      l, endpoint::parse("127.0.0.1:0").value(),
      [](const setup&, const std::string&) -> result<handlers> { return routes(); }, how);
  if (!listening) {
    std::cerr << listening.error().message << '\n';
    return 1;
  }
  std::cout << "listening " << (*listening)->address().text() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

void say(std::string_view what, const result<void>& ended) {
  std::cout << what << ' '
            << (ended ? "done" : std::string(to_string(ended.error().code)) + ": " + ended.error().message)
            << std::endl;
}

int ask(const std::string& where) {
  loop l;
  setup hello;
  hello.keepalive_ms = 50;
  const auto to = requester::connect(l, endpoint::parse(where).value(), hello);
  if (!to) {
    std::cerr << to.error().message << '\n';
    return 1;
  }
  const auto echo = flow::first(to->request_response(routed("echo", "hello")));
  std::cout << "echo " << (echo && *echo ? text_of(**echo) : echo.error().message) << std::endl;

  std::size_t count = 0, sum = 0;
  auto ended = flow::for_each(to->request_stream(routed("range", "1000"), 7), [&](const payload& p) {
    ++count;
    sum += std::stoul(text_of(p));
  });
  say("range " + std::to_string(count) + " " + std::to_string(sum), ended);

  count = 0;
  ended = flow::for_each(to->request_stream(routed("endless"), 4) | flow::take(10), [&](const payload&) { ++count; });
  say("endless " + std::to_string(count), ended);

  count = 0;
  ended = flow::for_each(to->request_stream(routed("broken")), [&](const payload&) { ++count; });
  say("broken " + std::to_string(count), ended);

  const auto large = flow::first(to->request_response(routed("pattern", "1000000")));
  std::cout << "pattern " << (large && *large ? (*large)->data.size() : 0) << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve" && argc == 2) return serve();
  if (what == "ask" && argc == 3) return ask(argv[2]);
  std::cerr << "usage: rsocket_routes_peer serve | rsocket_routes_peer ask HOST:PORT\n";
  return 2;
}
