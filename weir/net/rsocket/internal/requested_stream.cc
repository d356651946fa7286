#include <weir/net/rsocket/internal/requested_stream.h>

#include <algorithm>

#include <weir/net/rsocket/internal/session.h>

namespace weir::net::rsocket::internal {

requested_stream::requested_stream(std::shared_ptr<link> over, frame_type type, payload request, std::uint32_t window)
    : link_(std::move(over)),
      type_(type),
      window_(type == frame_type::request_response ? 1 : std::clamp(window, std::uint32_t{1}, window_items_max)),
      request_(std::move(request)) {
  task_.of = this;
  task_.run = [](flow::task* self) noexcept {
    auto& task = *static_cast<own_task*>(self);
    const auto alive = std::move(task.alive);
    // From here the consumer may post again, and write `alive` again. Partner: the exchange in tell_loop. What the
    // consumer reports from now on is posted anew; what it reported before is seen below.
    alive->told_.exchange(false, std::memory_order_acq_rel);
    alive->on_told();
  };
}

// --- consumer ------------------------------------------------------------------------------------------------------------

bool requested_stream::start() {
  ring_.emplace(window_);
  if (!tell_loop()) return false;
  started_ = true;
  return true;
}

/// Counts items that left the ring, and reports them once they are half a window.
void requested_stream::taken(std::size_t count) {
  if (type_ == frame_type::request_response) return;
  taken_ += static_cast<std::uint32_t>(count);
  if (taken_ < std::max(window_ / 2, std::uint32_t{1})) return;
  // Partner: the exchange in on_told; told_ carries it over.
  refill_.fetch_add(taken_, std::memory_order_relaxed);
  taken_ = 0;
  tell_loop();
}

/// Returns whether the consumer is to sleep.
bool requested_stream::park(const flow::waker& wake) {
  parking_.withdraw();  // then nobody reads waker_
  waker_ = wake;
  const queue::wake_action action{[](void* self) noexcept { static_cast<requested_stream*>(self)->waker_(); }, this};
  return parking_.park(action, [this] { return ring_->has_items() || ring_->ended(); });
}

flow::step requested_stream::end(flow::context& cx) const { return failure_ ? cx.fail(*failure_) : flow::step::done; }

void requested_stream::abandon() noexcept {
  parking_.withdraw();
  if (!started_) return;
  abandoned_.store(true, std::memory_order_relaxed);  // told_ carries it over
  tell_loop();
}

/// Sees to it that on_told runs after what was reported so far; false if the connection is gone.
bool requested_stream::tell_loop() noexcept {
  // Partner: the exchange in the task. Whoever finds `true` leaves its report to a run that has not begun to look.
  if (told_.exchange(true, std::memory_order_acq_rel)) return true;
  task_.alive = shared_from_this();
  if (link_->post(task_)) return true;
  task_.alive.reset();
  told_.store(false, std::memory_order_relaxed);
  return false;
}

// --- loop ----------------------------------------------------------------------------------------------------------------

void requested_stream::on_told() {
  if (ended_) return;
  session* const over = link_->on_loop;
  if (abandoned_.load(std::memory_order_relaxed)) {
    ended_ = true;
    if (over) over->cancel(*this);
    return;
  }
  if (!over) return end(link_->why());
  if (id_ == 0) return over->open(shared_from_this());
  const std::uint32_t more = refill_.exchange(0, std::memory_order_relaxed);
  if (more == 0) return;
  credit_ += more;
  over->request_more(*this, more);
}

void requested_stream::open(std::uint32_t id) {
  id_ = id;
  credit_ = window_;
  outgoing::head first;
  first.stream = id;
  first.type = type_;
  if (type_ == frame_type::request_stream) first.number = window_;
  outgoing_.emplace(first, std::move(request_));
}

void requested_stream::send() {
  net::internal::connection& to = link_->on_loop->wire();
  while (outgoing_ && to.writable()) {
    requested_ = true;
    bool last = false;
    to.append([&](bytes& out) { last = outgoing_->append_next(out); });
    if (last) outgoing_.reset();
  }
  if (outgoing_) link_->on_loop->has_more(*this);
}

bool requested_stream::take_item(payload&& item) {
  if (credit_ == 0 || ended_) return false;
  --credit_;
  // The ring has as many places as there is credit. `cancelled` only says that the flow is gone: the task comes.
  static_cast<void>(ring_->try_push(std::move(item)));
  return true;
}

void requested_stream::end(std::optional<error> failure) {
  if (ended_) return;
  ended_ = true;
  outgoing_.reset();
  failure_ = std::move(failure);
  ring_->close();
  parking_.notify();
}

}  // namespace weir::net::rsocket::internal
