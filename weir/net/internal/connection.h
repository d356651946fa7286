#pragma once

// One stream socket, TCP or Unix, with batches in both directions.
//
//     append, append, append ...  ->  filling  --end of turn, or 64 KiB-->  sending  --one write-->  socket
//
// Out: frames are appended to one buffer during a turn of the loop and leave in one write at its end. While the socket
// takes no more, frames gather in the buffer `filling`; they leave together once it does. Two marks bound what waits:
//
//     outgoing_bytes_max   senders of items are held back (`writable()` is false) until half of it is gone
//     + control_bytes_max  what must not be held back (cancellations, credit, errors, keepalives) may go up to here; a
//                          peer that makes us owe it more without reading any of it is cut off
//
// In: one buffer that grows only as octets arrive, never by what a length announces.
//
// Events never come from inside append, finish or abort: whoever appends need not expect to be called back.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <asio/generic/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include <weir/core/bytes.h>
#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/net/internal/live_counters.h>
#include <weir/net/internal/loop_internals.h>

namespace weir::net::internal {

using stream_socket = asio::generic::stream_protocol::socket;

inline constexpr std::size_t read_bytes_least = 16 * limits::KiB;  ///< of an idle connection: 16 MiB for a thousand
inline constexpr std::size_t read_bytes_busy = 256 * limits::KiB;  ///< one read of a busy one; larger only for a frame
/// Control octets beyond the high-water mark: REQUEST_N or CANCEL for every stream ten times over, and one keepalive.
inline constexpr std::size_t control_bytes_max = 256 * limits::KiB;
/// How long a connection that we end waits for the peer to take our last words. A socket that is closed while octets
/// from the peer are unread resets, and a reset destroys what the peer has not read yet.
inline constexpr std::uint32_t linger_ms_max = 1'000;

/// What a connection tells its owner, on the loop's thread.
class connection_events {
 public:
  struct taken {
    std::size_t octets = 0;  ///< this many are dealt with
    std::size_t wanted = 0;  ///< so many must be there, of those left, before another call is worth it
  };
  /// Octets came. What is not taken is offered again, with more behind it. Not called any more after finish or abort.
  virtual taken on_octets(bytes_view octets) = 0;
  /// The outgoing buffer was full and has room again.
  virtual void on_writable() = 0;
  /// The connection is gone: the last call.
  virtual void on_closed(const error& why) = 0;

 protected:
  ~connection_events() = default;
};

/// See above.
///   Threads  confined to the loop's.
///   Owner    one shared object that has the connection as a member and is, or outlives, its events. Pending work holds
///            that object: it lives at least until on_closed, unless the loop is destroyed before.
///   Memory   outgoing_bytes_max + control_bytes_max + one frame for output, twice while it moves; read_bytes_busy, or
///            twice the frame that is arriving, for input.
class connection {
 public:
  connection(loop& on, stream_socket socket, std::string peer, connection_events& events, live_counters& counters);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Begins to read. Comes before everything else.
  void start(const std::shared_ptr<void>& owner);

  /// Calls `write(bytes&)`, which appends one frame to the buffer and touches nothing else in it.
  template <class Write>
  void append(Write&& write) {
    if (state_ == state::closed) return;
    write(filling_);
    appended();
  }

  /// Whether senders of items may append. False from the high-water mark until half of it is left, and after the end.
  [[nodiscard]] bool writable() const noexcept { return state_ == state::open && !stalled_; }
  /// How many octets may be appended before the high-water mark.
  [[nodiscard]] std::size_t room() const noexcept {
    return queued() < limits::outgoing_bytes_max ? limits::outgoing_bytes_max - queued() : 0;
  }

  /// Writes what is queued, says goodbye and closes; the peer has linger_ms_max to take it.
  void finish();
  /// Closes now.
  void abort(error why);

  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

 private:
  enum class state : std::uint8_t { open, finishing, closed };

  struct own_task : flow::task {
    connection* of = nullptr;
    std::shared_ptr<void> alive;  ///< set while the task is posted
  };

  [[nodiscard]] std::size_t queued() const noexcept { return filling_.size() + sending_.size() - sent_; }
  [[nodiscard]] std::shared_ptr<void> alive() const { return owner_.lock(); }
  void appended();
  void flush_at_turn_end();
  void flush();
  void wait_for_room();
  void on_room();
  void say_goodbye();
  void read_more();
  void on_read(std::size_t count);
  void offer();
  void make_room(bool filled);
  void close(error why);

  loop::internals& loop_;
  std::weak_ptr<void> owner_;
  stream_socket socket_;
  const std::string peer_;
  connection_events& events_;
  live_counters& counters_;
  state state_ = state::open;
  error why_;

  bytes filling_;
  bytes sending_;  // [sent_, end) is what the socket has not taken
  std::size_t sent_ = 0;
  bool waits_for_room_ = false;
  bool stalled_ = false;
  bool flush_posted_ = false;
  own_task flush_task_, closed_task_;

  std::unique_ptr<std::uint8_t[]> in_;
  std::size_t in_capacity_ = 0;
  std::size_t in_size_ = 0;
  std::size_t wanted_ = 0;
  std::optional<asio::steady_timer> linger_;
};

}  // namespace weir::net::internal
