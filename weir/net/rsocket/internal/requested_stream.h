#pragma once

// A stream that this side asked for: items come on the loop's thread and are pulled on a consumer's.
//
//     loop: session -> ring (as large as the window) -> consumer: requested_flow::pull
//     consumer: "open", "n more items taken", "cancel" -> one task that is posted to the loop
//
// Lifetimes. The state is shared by the consumer's flow, the session while the stream is open, and the task while it is
// posted. Three things may end first, in any order: the flow (then the session is told to cancel, if there is one), the
// connection (then the ring is closed with an error after the items that came), the loop (only after the connection; the
// link sees to it that nothing is posted then). The consumer's waker is called by the loop through queue::parking, which
// the flow's destructor withdraws: after that it is never called again (rule R7 of weir/flow/flow.h).

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <weir/core/result.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/internal/link.h>
#include <weir/net/rsocket/internal/outgoing.h>
#include <weir/net/rsocket/internal/round.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/queue/parking.h>
#include <weir/queue/spsc_ring.h>

namespace weir::net::rsocket::internal {

/// The largest window: the ring of a stream is allocated with its first pull, 56 octets an item.
inline constexpr std::uint32_t window_items_max = 65'536;

/// See above.
///   Threads  roles: consumer (one thread at a time) and loop, as the sections say.
class requested_stream final : public sender, public std::enable_shared_from_this<requested_stream> {
 public:
  requested_stream(std::shared_ptr<link> over, frame_type type, payload request, std::uint32_t window);

  // --- consumer --------------------------------------------------------------------------------------------------------

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    if (!started_ && !start()) return cx.fail(link_->why());
    for (;;) {
      const std::size_t count = ring_->consume(demand, emit);
      demand -= count;
      taken(count);
      if (ring_->ended()) return end(cx);
      if (demand == 0) return flow::step::more;
      if (park(cx.wake())) return flow::step::pending;
    }
  }

  /// The flow is being destroyed: no waker of it is called once this has returned.
  void abandon() noexcept;

  // --- loop ------------------------------------------------------------------------------------------------------------

  /// The session has given the stream its id; sends the request in its turns.
  void open(std::uint32_t id);
  void send() override;
  /// An item came. False if it was not asked for.
  [[nodiscard]] bool take_item(payload&& item);
  /// Wakes the consumer, if it sleeps: once for the items of one read.
  void wake_consumer() noexcept { parking_.notify(); }
  /// No item comes any more.
  void end(std::optional<error> failure);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  [[nodiscard]] bool is_single() const noexcept { return type_ == frame_type::request_response; }
  /// Whether any of the request's frames has been appended.
  [[nodiscard]] bool is_requested() const noexcept { return requested_; }

  bool has_news = false;  ///< the session's: whether the consumer is to be woken at the end of this read

 private:
  struct own_task : flow::task {
    requested_stream* of = nullptr;
    std::shared_ptr<requested_stream> alive;  ///< written before the post, taken when the task runs
  };

  // consumer
  bool start();
  void taken(std::size_t count);
  bool park(const flow::waker& wake);
  flow::step end(flow::context& cx) const;
  bool tell_loop() noexcept;

  // loop
  void on_told();

  const std::shared_ptr<link> link_;
  const frame_type type_;
  const std::uint32_t window_;

  // consumer
  bool started_ = false;
  std::uint32_t taken_ = 0;  // since the last refill
  flow::waker waker_;        // written while parking_ is withdrawn
  queue::parking parking_;

  // both
  std::optional<queue::spsc_ring<payload>> ring_;  // made by the first pull, before the loop hears of the stream
  own_task task_;
  std::atomic<bool> told_ = false;  // task_ is posted. Consumer: exchange; loop: store(false) before it looks at:
  std::atomic<std::uint32_t> refill_ = 0;  // items taken and not reported yet
  std::atomic<bool> abandoned_ = false;
  std::optional<error> failure_;  // written by the loop before it closes the ring, read by the consumer after it

  // loop
  std::uint32_t id_ = 0;  // 0 until opened
  bool requested_ = false;
  bool ended_ = false;
  std::uint64_t credit_ = 0;  // items that may still come
  payload request_;           // until opened
  std::optional<outgoing> outgoing_;
};

/// The consumer's end: what the public functions return, erased. Keeps the connection open as a handle of it does.
class requested_flow {
 public:
  using value_type = payload;

  requested_flow(std::shared_ptr<requested_stream> stream, std::shared_ptr<const requester::internals> open)
      : open_(std::move(open)), stream_(std::move(stream)) {}
  requested_flow(requested_flow&&) noexcept = default;
  requested_flow& operator=(requested_flow&&) = delete;
  ~requested_flow() {
    if (stream_) stream_->abandon();
  }

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    return stream_->pull(demand, emit, cx);
  }

 private:
  std::shared_ptr<const requester::internals> open_;  // let go after the cancel of ~requested_flow is on its way
  std::shared_ptr<requested_stream> stream_;
};

}  // namespace weir::net::rsocket::internal
