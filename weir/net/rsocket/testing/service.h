#pragma once

// For tests: a server with a few routes, flows that say what happens to them, and frames for raw peers.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/sources.h>
#include <weir/net/loop.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/net/testing/raw_peer.h>

namespace weir::net::rsocket::testing {

/// What happened to the flows of a `watched_flow`'s kind. Waiting ends with the event; the test's time limit is the limit.
class watch {
 public:
  void emitted() {
    change([this] { ++emitted_; });
  }
  void began() {
    change([this] { ++began_; });
  }
  void destroyed() {
    change([this] { ++destroyed_; });
  }
  [[nodiscard]] std::uint64_t emitted_so_far() const {
    return look([this] { return emitted_; });
  }
  [[nodiscard]] std::uint64_t destroyed_so_far() const {
    return look([this] { return destroyed_; });
  }
  void wait_for_destroyed(std::uint64_t count) {
    wait([this, count] { return destroyed_ >= count; });
  }
  void wait_for_emitted(std::uint64_t count) {
    wait([this, count] { return emitted_ >= count; });
  }
  void wait_for_began(std::uint64_t count) {
    wait([this, count] { return began_ >= count; });
  }

 private:
  template <class F>
  void change(F&& f) {
    const std::lock_guard hold(lock_);
    f();
    changed_.notify_all();
  }
  template <class F>
  std::uint64_t look(F&& f) const {
    const std::lock_guard hold(lock_);
    return f();
  }
  template <class F>
  void wait(F&& f) {
    std::unique_lock hold(lock_);
    changed_.wait(hold, f);
  }
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t began_ = 0, emitted_ = 0, destroyed_ = 0;
};

/// Items of one size, numbered in their first eight octets, without end unless told; reports to a watch.
class watched_flow {
 public:
  using value_type = payload;
  watched_flow(std::shared_ptr<watch> to, std::size_t item_bytes, std::uint64_t count = std::uint64_t(-1))
      : to_(std::move(to)), item_bytes_(item_bytes), left_(count) {
    to_->began();
  }
  watched_flow(watched_flow&&) noexcept = default;
  watched_flow& operator=(watched_flow&&) = delete;
  ~watched_flow() {
    if (to_) to_->destroyed();
  }

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context&) {
    for (; demand != 0; --demand) {
      if (left_ == 0) return flow::step::done;
      --left_;
      payload item{bytes(item_bytes_), std::nullopt};
      std::memcpy(item.data.data(), &number_, std::min(sizeof number_, item.data.size()));
      ++number_;
      to_->emitted();
      emit(std::move(item));
    }
    return flow::step::more;
  }

 private:
  std::shared_ptr<watch> to_;
  std::size_t item_bytes_;
  std::uint64_t left_;
  std::uint64_t number_ = 0;
};

/// A flow that never has anything, and keeps the waker it was given last.
class silent_flow {
 public:
  using value_type = payload;
  explicit silent_flow(std::shared_ptr<watch> to) : to_(std::move(to)) {}
  silent_flow(silent_flow&&) noexcept = default;
  silent_flow& operator=(silent_flow&&) = delete;
  ~silent_flow() {
    if (to_) to_->destroyed();
  }
  template <class Emit>
  flow::step pull(std::size_t&, Emit&&, flow::context&) {
    to_->began();
    return flow::step::pending;
  }

 private:
  std::shared_ptr<watch> to_;
};

inline payload text(std::string_view data) { return {to_bytes(data), std::nullopt}; }
inline payload routed(std::string_view route, std::string_view data = {}) {
  return {to_bytes(data), route_metadata(route)};
}
inline std::string text_of(const payload& p) { return std::string(as_text(p.data)); }
inline std::uint64_t number_of(const payload& p) {
  std::uint64_t number = 0;
  std::memcpy(&number, p.data.data(), std::min(sizeof number, p.data.size()));
  return number;
}

/// A server on a port or path of its own whose streams are told apart by route:
///   echo       the request's data and metadata
///   count      as many items as the data says
///   endless    items of as many octets as the data says, without end
///   silent     nothing, for ever
///   broken     three items, then a failure `corrupt`
///   throws     the handler throws;   throws_later   the flow throws at its third item
class service {
 public:
  explicit service(const std::string& at = "127.0.0.1:0", server::options how = {}) {
    how.log = [this](const std::string& line) {
      const std::lock_guard hold(lock_);
      lines_.push_back(line);
      changed_.notify_all();
    };
    auto listening = server::listen(
        loop_, endpoint::parse(at).value(),
        [this](const setup& asked, const std::string&) -> result<handlers> {
          if (asked.data_mime == "no/thanks") return weir::fail(errc::permission, "not for you");
          return make_handlers();
        },
        how);
    EXPECT_TRUE(listening.ok()) << (listening ? "" : listening.error().message);
    if (listening) server_ = *std::move(listening);
  }

  [[nodiscard]] server& get() { return *server_; }
  [[nodiscard]] endpoint at() const { return server_->address(); }
  void stop() { server_.reset(); }
  [[nodiscard]] watch& seen() { return *watch_; }
  [[nodiscard]] loop& on() { return loop_; }

  /// The first line of the log that has this in it; waits for it.
  std::string wait_for_line(std::string_view part) {
    std::unique_lock hold(lock_);
    std::string found;
    changed_.wait(hold, [&] {
      for (const auto& line : lines_) {
        if (line.find(part) != line.npos) return found = line, true;
      }
      return false;
    });
    return found;
  }
  std::size_t lines() {
    const std::lock_guard hold(lock_);
    return lines_.size();
  }

 private:
  handlers make_handlers() {
    handlers h;
    h.request_response = [this](payload request) { return answer(std::move(request)); };
    h.request_stream = [this](payload request) { return answer(std::move(request)); };
    return h;
  }

  reply answer(payload request) {
    const auto route = route_of(request.metadata.value_or(bytes{}));
    if (!route) return flow::fail<payload>(route.error());
    const std::string data = text_of(request);
    if (*route == "echo") return flow::just(std::move(request));
    if (*route == "count") return watched_flow(watch_, 8, std::stoull(data));
    if (*route == "endless") return watched_flow(watch_, std::stoull(data));
    if (*route == "silent") return silent_flow(watch_);
    if (*route == "throws") throw std::runtime_error("thrown by the handler");
    if (*route == "broken" || *route == "throws_later") {
      return flow::generate(
          [left = 3, throwing = *route == "throws_later"]() mutable -> result<std::optional<payload>> {
            if (left-- > 0) return std::optional(text("good"));
            if (throwing) throw std::runtime_error("thrown by the flow");
            return weir::fail(errc::corrupt, "the rest is broken");
          });
    }
    return flow::fail<payload>(weir::fail(errc::not_found, "no route " + *route));
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;  // guarded by lock_
  std::shared_ptr<watch> watch_ = std::make_shared<watch>();
  loop loop_{"server"};
  std::unique_ptr<server> server_;  // before the loop
};

inline bytes framed(const frame& f) {
  bytes out;
  append_frame(out, f);
  return out;
}

inline frame setup_frame() {
  frame f;
  f.type = frame_type::setup;
  f.keepalive_ms = 20'000;
  f.lifetime_ms = 90'000;
  f.metadata_mime = "message/x.rsocket.routing.v0";
  f.data_mime = "application/octet-stream";
  return f;
}

/// A request; the views in it live as long as `request`.
inline frame request_frame(frame_type type, std::uint32_t stream, const payload& request, std::uint32_t n = 0,
                           std::uint16_t flags = 0) {
  frame f;
  f.type = type;
  f.stream = stream;
  f.flags = flags;
  f.number = n;
  f.data = request.data;
  if (request.metadata) f.metadata = *request.metadata;
  return f;
}

/// A peer that has sent its SETUP.
inline net::testing::raw_peer raw_client(const endpoint& to, int receive_bytes = 0) {
  net::testing::raw_peer peer(to, receive_bytes);
  peer.send(framed(setup_frame()));
  return peer;
}

}  // namespace weir::net::rsocket::testing
