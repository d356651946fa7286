#pragma once

namespace weir::net::rsocket::internal {

class round;

/// Something with frames to send: a stream that answers, or a request that is on its way.
///   Threads  confined to the loop's.
class sender {
 public:
  sender() = default;
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;

  /// Appends about one quantum of frames while the connection is writable, and puts itself into the round again if there
  /// is more to send. May destroy *this.
  virtual void send() = 0;

  virtual ~sender() = default;

 private:
  friend round;
  round* in_ = nullptr;
  sender* before_ = nullptr;
  sender* after_ = nullptr;
};

/// The senders of one connection that have something to send: each in turn, so that no stream keeps the others waiting.
/// Owns nothing and allocates nothing.
class round {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// Puts the sender at the end, unless it is in already.
  void add(sender& s) noexcept {
    if (s.in_) return;
    s.in_ = this;
    s.before_ = last_;
    s.after_ = nullptr;
    (last_ ? last_->after_ : first_) = &s;
    last_ = &s;
  }

  /// Takes the sender out, if it is in.
  void remove(sender& s) noexcept {
    if (!s.in_) return;
    (s.before_ ? s.before_->after_ : first_) = s.after_;
    (s.after_ ? s.after_->before_ : last_) = s.before_;
    s.in_ = nullptr;
  }

  /// The first sender, taken out; null if there is none.
  sender* next() noexcept {
    sender* const s = first_;
    if (s) remove(*s);
    return s;
  }

 private:
  sender* first_ = nullptr;
  sender* last_ = nullptr;
};

}  // namespace weir::net::rsocket::internal
