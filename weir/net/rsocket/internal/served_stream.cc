#include <weir/net/rsocket/internal/served_stream.h>

#include <algorithm>

#include <weir/core/limits.h>
#include <weir/flow/caught.h>
#include <weir/net/rsocket/internal/error_text.h>
#include <weir/net/rsocket/internal/session.h>

namespace weir::net::rsocket::internal {

namespace {

frame last_frame(std::uint32_t id, frame_type type, std::uint16_t flags) {
  frame f;
  f.stream = id;
  f.type = type;
  f.flags = flags;
  return f;
}

}  // namespace

served_stream::served_stream(session& of, std::uint32_t id, frame_type type, std::uint32_t credit, reply items)
    : of_(&of),
      loop_(of.on()),
      id_(id),
      single_(type == frame_type::request_response),
      credit_(single_ ? 1 : credit),
      items_(std::move(items)) {
  run = [](flow::task* self) noexcept { static_cast<served_stream*>(self)->on_woken(); };
}

void served_stream::end(std::unique_ptr<served_stream> stream) {
  stream->of_->forget(*stream);
  stream->of_ = nullptr;
  stream->items_ = {};
  // The flow is gone, so no waker runs. If one has posted the task, the task owns the stream now. Partner: wake.
  if (stream->woken_.load(std::memory_order_acquire)) static_cast<void>(stream.release());
}

void served_stream::wake(void* self) noexcept {
  auto& me = *static_cast<served_stream*>(self);
  // Release: what the flow prepared is seen by the pull that follows. Partner: the exchange in on_woken.
  if (!me.woken_.exchange(true, std::memory_order_acq_rel)) me.loop_.post(static_cast<flow::task&>(me));
}

void served_stream::on_woken() noexcept {
  // Before the pull, so that a wake that comes during the pull leads to another one. Partner: wake.
  woken_.exchange(false, std::memory_order_acq_rel);
  if (!of_) {
    delete this;
    return;
  }
  pending_ = false;
  session& of = *of_;
  of.has_more(*this);
  of.send_round();
}

void served_stream::add_credit(std::uint32_t more) noexcept {
  if (single_) return;
  credit_ += std::min(more, number_max - credit_);
  if (!pending_) of_->has_more(*this);
}

void served_stream::send() {
  if (!send_held()) return of_->has_more(*this);
  if (!final_ && !answered_ && credit_ != 0 && !pending_) {
    if (!of_->wire().writable()) return of_->has_more(*this);
    pull();
    if (!send_held()) return of_->has_more(*this);
  }
  if (final_) {
    final_->data = as_bytes(final_text_);
    of_->wire().append([&](bytes& out) { append_frame(out, *final_); });
  }
  if (final_ || answered_) return of_->end_served(id_);
  if (credit_ != 0 && !pending_) of_->has_more(*this);
}

/// Appends what earlier pulls left; false if there is still something left.
bool served_stream::send_held() {
  auto& to = of_->wire();
  while (sending_ || !held_.empty()) {
    if (!to.writable()) return false;
    if (!sending_) {
      begin(std::move(held_.front()));
      held_.pop_front();
      continue;
    }
    bool last = false;
    to.append([&](bytes& out) { last = sending_->append_next(out); });
    if (last) sending_.reset();
  }
  return true;
}

/// Appends the item's first frame, and keeps the rest of a large one.
void served_stream::begin(payload&& item) {
  outgoing::head head;
  head.stream = id_;
  head.flags = single_ ? flag::next | flag::complete : flag::next;
  sending_.emplace(head, std::move(item));
  bool last = false;
  of_->wire().append([&](bytes& out) { last = sending_->append_next(out); });
  if (last) sending_.reset();
}

void served_stream::take_item(payload&& item) {
  if (answered_) return;  // a response is one item, whatever the handler thinks
  answered_ = single_;
  --credit_;
  largest_item_bytes_ = std::max(largest_item_bytes_, item.data.size() + (item.metadata ? item.metadata->size() : 0));
  if (sending_ || !held_.empty() || !of_->wire().writable()) {
    held_.push_back(std::move(item));
  } else {
    begin(std::move(item));
  }
}

std::size_t served_stream::demand() const {
  if (largest_item_bytes_ == 0) return 1;
  const std::size_t fitting = std::max<std::size_t>(of_->wire().room() / largest_item_bytes_, 1);
  return std::min({fitting, std::size_t{credit_}, std::size_t{served_quantum_items}});
}

void served_stream::pull() {
  error failure;
  flow::context cx(flow::waker(&served_stream::wake, this), failure);
  flow::step why;
  try {
    std::size_t wanted = demand();
    why = items_.pull(
        wanted, [this](payload&& item) { take_item(std::move(item)); }, cx);
  } catch (...) {
    failure = flow::caught();
    why = flow::step::failed;
  }
  switch (why) {
    case flow::step::more:
      return;
    case flow::step::pending:
      pending_ = true;
      return;
    case flow::step::done:
      final_ = last_frame(id_, frame_type::payload, flag::complete);
      break;
    case flow::step::failed:
      final_ = last_frame(id_, frame_type::error, 0);
      final_->number = std::uint32_t(error_code::application_error);
      final_text_ = error_text(failure);
      break;
    case flow::step::cancelled:
      final_ = last_frame(id_, frame_type::error, 0);
      final_->number = std::uint32_t(error_code::canceled);
      final_text_ = error_text(fail(errc::cancelled, "the responder stopped"));
      break;
  }
  if (answered_) final_.reset();  // the item's own frame said that it was the last
  items_ = {};
}

}  // namespace weir::net::rsocket::internal
