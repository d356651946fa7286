#include <weir/net/internal/connection.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <asio/ip/tcp.hpp>

namespace weir::net::internal {

connection::connection(loop& on, stream_socket socket, std::string peer, connection_events& events,
                       live_counters& counters)
    : loop_(on.inside()), socket_(std::move(socket)), peer_(std::move(peer)), events_(events), counters_(counters) {
  asio::error_code ignored;  // a Unix socket has no such option, and no such delay
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  flush_task_.of = closed_task_.of = this;
  flush_task_.run = [](flow::task* self) noexcept {
    auto& task = *static_cast<own_task*>(self);
    const auto alive = std::move(task.alive);
    task.of->flush_posted_ = false;
    task.of->flush();
  };
  closed_task_.run = [](flow::task* self) noexcept {
    auto& task = *static_cast<own_task*>(self);
    const auto alive = std::move(task.alive);
    task.of->events_.on_closed(task.of->why_);
  };
}

void connection::start(const std::shared_ptr<void>& owner) {
  owner_ = owner;
  in_ = std::make_unique_for_overwrite<std::uint8_t[]>(read_bytes_least);
  in_capacity_ = read_bytes_least;
  read_more();
}

// --- out ---------------------------------------------------------------------------------------------------------------

void connection::appended() {
  counters_.frames_out.add(1);
  if (filling_.size() >= limits::bundle_bytes) flush();
  if (state_ == state::closed) return;
  if (queued() >= limits::outgoing_bytes_max + control_bytes_max) {
    return abort(fail(errc::unexpected, fmt::format("{} does not read what it makes us send", peer_)));
  }
  if (!stalled_ && queued() >= limits::outgoing_bytes_max) {
    stalled_ = true;
    counters_.stalls.add(1);
  }
  if (queued() != 0) flush_at_turn_end();
}

void connection::flush_at_turn_end() {
  if (waits_for_room_ || flush_posted_) return;
  flush_posted_ = true;
  flush_task_.alive = alive();
  loop_.at_turn_end(flush_task_);
}

void connection::flush() {
  while (state_ != state::closed && !waits_for_room_) {
    if (sent_ == sending_.size()) {
      sending_.clear();
      sent_ = 0;
      std::swap(sending_, filling_);
      if (sending_.empty()) break;
    }
    const std::size_t offered = sending_.size() - sent_;
    asio::error_code failed;
    const std::size_t count = socket_.write_some(asio::buffer(sending_.data() + sent_, offered), failed);
    if (failed == asio::error::would_block || failed == asio::error::try_again) return wait_for_room();
    if (failed) {
      return close(fail(errc::disconnected, fmt::format("the connection to {} broke: {}", peer_, failed.message()),
                        failed.value()));
    }
    counters_.writes.add(1);
    counters_.bytes_out.add(count);
    counters_.bundle_bytes_largest.raise_to(offered);
    sent_ += count;
    if (count < offered) return wait_for_room();
  }
  if (state_ == state::finishing) say_goodbye();
}

void connection::wait_for_room() {
  waits_for_room_ = true;
  socket_.async_wait(stream_socket::wait_write, [this, held = alive()](asio::error_code failed) {
    waits_for_room_ = false;
    if (!failed) on_room();
  });
}

void connection::on_room() {
  flush();
  if (state_ != state::open || !stalled_ || queued() > limits::outgoing_bytes_max / 2) return;
  stalled_ = false;
  events_.on_writable();
}

// --- in ----------------------------------------------------------------------------------------------------------------

void connection::read_more() {
  if (state_ == state::closed) return;
  const auto free = asio::buffer(in_.get() + in_size_, in_capacity_ - in_size_);
  socket_.async_read_some(free, [this, held = alive()](asio::error_code failed, std::size_t count) {
    if (state_ == state::closed) return;
    if (!failed) return on_read(count);
    if (failed == asio::error::eof) {
      return close(fail(errc::disconnected, fmt::format("{} closed the connection", peer_)));
    }
    close(fail(errc::disconnected, fmt::format("the connection to {} broke: {}", peer_, failed.message()),
               failed.value()));
  });
}

void connection::on_read(std::size_t count) {
  counters_.bytes_in.add(count);
  in_size_ += count;
  const bool filled = in_size_ == in_capacity_;
  if (state_ == state::open) {
    offer();
    make_room(filled);
  } else {
    in_size_ = 0;  // finishing: octets are only taken off the socket
  }
  read_more();
}

void connection::offer() {
  if (in_size_ < wanted_) return;
  const auto [octets, wanted] = events_.on_octets({in_.get(), in_size_});
  wanted_ = wanted;
  in_size_ -= octets;
  // What is left is the beginning of one frame.
  if (octets != 0 && in_size_ != 0) std::memmove(in_.get(), in_.get() + octets, in_size_);
}

/// Makes the buffer twice as large when a read has filled it, up to what the owner waits for or what suits a busy
/// connection, and small again when a large frame is through.
void connection::make_room(bool filled) {
  std::size_t capacity = in_capacity_;
  if (filled && in_capacity_ < std::max(wanted_, read_bytes_busy)) {
    capacity = std::min(in_capacity_ * 2, std::max(wanted_, read_bytes_busy));
  } else if (in_capacity_ > read_bytes_busy && in_size_ < read_bytes_busy && wanted_ <= read_bytes_busy) {
    capacity = read_bytes_busy;
  }
  if (capacity == in_capacity_) return;
  auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(capacity);
  std::memcpy(larger.get(), in_.get(), in_size_);
  in_ = std::move(larger);
  in_capacity_ = capacity;
}

// --- end ---------------------------------------------------------------------------------------------------------------

void connection::finish() {
  if (state_ != state::open) return;
  state_ = state::finishing;
  why_ = fail(errc::disconnected, fmt::format("the connection to {} was closed", peer_));
  linger_.emplace(loop_.io, std::chrono::milliseconds(linger_ms_max));
  linger_->async_wait([this, held = alive()](asio::error_code cancelled) {
    if (!cancelled) close(why_);
  });
  flush_at_turn_end();
}

void connection::say_goodbye() {
  asio::error_code gone;
  socket_.shutdown(stream_socket::shutdown_send, gone);
  if (gone) close(why_);
}

void connection::abort(error why) { close(std::move(why)); }

void connection::close(error why) {
  if (state_ == state::closed) return;
  if (state_ == state::open) why_ = std::move(why);
  state_ = state::closed;
  asio::error_code ignored;
  socket_.close(ignored);
  if (linger_) linger_->cancel();
  filling_.clear();
  sending_.clear();
  sent_ = 0;
  closed_task_.alive = alive();
  loop_.post(closed_task_);
}

}  // namespace weir::net::internal
