#pragma once

// A stream that the peer asked for: a handler's flow, pulled on the loop's thread as far as the peer's credit and the
// room in the outgoing buffer go.
//
// Lifetimes. The flow is given a waker that other threads call. It posts the stream's own task, at most once at a time;
// when the stream ends while that is posted, the flow is destroyed at once (after which no waker is called, rule R7) and
// the rest of the stream by the task. So: end() destroys the flow, and the stream too unless its task is out.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include <weir/core/result.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/internal/outgoing.h>
#include <weir/net/rsocket/internal/round.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket::internal {

class session;

/// Items of one pull. A stream that has more waits for its next turn.
inline constexpr std::uint32_t served_quantum_items = 64;

/// See above.
///   Memory   what one pull gave beyond the room in the outgoing buffer: the demand is what fits there if no item is larger
///            than the largest so far, and one for the first pull.
///   Threads  confined to the loop's; the waker any.
class served_stream final : public sender, private flow::task {
 public:
  served_stream(session& of, std::uint32_t id, frame_type type, std::uint32_t credit, reply items);

  /// More credit; beyond 2^31-1 it is not counted.
  void add_credit(std::uint32_t more) noexcept;
  void send() override;

  /// Destroys the flow, and the stream as soon as nothing refers to it. Not from inside a pull.
  static void end(std::unique_ptr<served_stream> stream);

 private:
  static void wake(void* self) noexcept;
  void on_woken() noexcept;
  bool send_held();
  void pull();
  void take_item(payload&& item);
  void begin(payload&& item);
  [[nodiscard]] std::size_t demand() const;

  session* of_;  // null once the stream has ended
  loop& loop_;
  const std::uint32_t id_;
  const bool single_;
  std::uint32_t credit_;
  reply items_;
  bool pending_ = false;        // the flow has nothing until it wakes us
  std::optional<frame> final_;  // what ends the stream, after all items; its text is in final_text_
  std::string final_text_;
  bool answered_ = false;  // single: the item was given, and its frame says that it is the last

  std::optional<outgoing> sending_;  // the item whose fragments are on their way
  std::deque<payload> held_;         // items that a pull gave beyond the room
  std::size_t largest_item_bytes_ = 0;
  std::atomic<bool> woken_ = false;  // the task is posted. Waker: exchange(true); loop: exchange(false), then pulls
};

}  // namespace weir::net::rsocket::internal
