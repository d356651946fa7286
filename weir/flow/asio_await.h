#pragma once

// Flows in the coroutines of Asio. Only for programs that use Asio: no other header of flow includes this one.
//
//     asio::awaitable<void> show(asio_reader<any_flow<int>> in) {
//       for (;;) {
//         auto item = co_await in.next();
//         if (!item || !*item) co_return;
//         ...
//       }
//     }
//
// A waker comes from any thread and must not run the coroutine (R2), so it posts to the coroutine's executor; there the
// bell's timer, which is set to never, is cancelled, and so the wait for it ends. Waiting for a timer is what Asio
// itself cancels and frees, with its io_context or for a cancellation slot; the bell owns no handler, so nothing owns
// itself.

#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/error_code.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/next.h>

#ifdef ASIO_HAS_CO_AWAIT

namespace weir::flow {

namespace detail {

/// What wakers ring, and a coroutine waits for.
///   Threads  ring from any thread; the rest on the executor, which runs one handler at a time.
class asio_bell : public std::enable_shared_from_this<asio_bell> {
 public:
  explicit asio_bell(asio::any_io_executor on)
      : on_(std::move(on)), never_(on_, asio::steady_timer::time_point::max()) {}

  [[nodiscard]] waker as_waker() noexcept { return {&asio_bell::ring, this}; }

  /// Returns after a ring that no wait has seen yet; false if it was cancelled.
  asio::awaitable<bool> wait() {
    if (!rung_) {
      asio::error_code by_whom;  // a ring cancels the timer, too; rung_ tells
      co_await never_.async_wait(asio::redirect_error(asio::use_awaitable, by_whom));
      never_.expires_at(asio::steady_timer::time_point::max());
    }
    co_return std::exchange(rung_, false);
  }

 private:
  static void ring(void* target) noexcept {
    auto& self = *static_cast<asio_bell*>(target);
    // One on its way is enough. Partner: the exchange in arrive.
    if (self.posted_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(self.on_, [bell = self.shared_from_this()] { bell->arrive(); });
  }
  void arrive() {
    // Partner: the exchange in ring. What was done before a ring that found `true` is visible to the pull that follows.
    posted_.exchange(false, std::memory_order_acq_rel);
    rung_ = true;
    never_.cancel();
  }

  asio::any_io_executor on_;
  asio::steady_timer never_;
  std::atomic<bool> posted_{false};
  bool rung_ = false;
};

}  // namespace detail

/// A flow that is read bit by bit by a coroutine of Asio, as reader (next.h) is by Weir's own.
///   on       the executor that the coroutine runs on, which runs one handler at a time: of one thread's io_context, or
///            a strand
///   Owns     the flow, which goes with the reader. Wakes post to the executor, so its io_context must live until the
///            reader is gone, or until no other thread can wake the flow any more.
///   Threads  confined to the executor; the flow may wake it from any thread. Moved only before the first read (R5).
///   Memory   one allocation, and what Asio takes for a post for each wake.
///   Cancel   with Asio's cancellation: the read that waits answers `cancelled`, and no item is lost; go on or destroy
///            it.
template <flow Source>
class asio_reader {
 public:
  using value_type = value_of<Source>;

  asio_reader(asio::any_io_executor on, Source source)
      : bell_(std::make_shared<detail::asio_bell>(std::move(on))), from_(std::move(source)) {}

  /// The next item; none when the flow is done; its error if it failed; `threw`; `cancelled`.
  asio::awaitable<result<std::optional<value_type>>> next() {
    std::optional<value_type> item;
    const auto put = [&item](value_type&& given) { item.emplace(std::move(given)); };
    const result<void> end = co_await pull(1, put, [&item] { return item.has_value(); });
    if (!item && !end) co_return end.error();
    co_return std::move(item);
  }

  /// As many items as are ready, at least one, moved to the front of `into`, which is not empty; how many; 0 when the
  /// flow is done.
  asio::awaitable<result<std::size_t>> next_batch(std::span<value_type> into)
    requires std::is_move_assignable_v<value_type>
  {
    assert(!into.empty());
    std::size_t count = 0;
    const auto put = [&count, into](value_type&& given) {
      into[count] = std::move(given);
      ++count;
    };
    const result<void> end = co_await pull(into.size(), put, [&count] { return count != 0; });
    if (count == 0 && !end) co_return end.error();
    co_return count;
  }

 private:
  /// Pulls until there is something, or until the end, which it then answers.
  template <class Put, class Enough>
  asio::awaitable<result<void>> pull(std::size_t demand, const Put& put, Enough enough) {
    for (;;) {
      from_.pull(demand, put, bell_->as_waker());
      if (enough()) co_return result<void>();
      if (from_.ended()) co_return from_.outcome();
      const bool rung = co_await bell_->wait();
      if (!rung) co_return weir::fail(errc::cancelled, "waiting for the flow was cancelled");
    }
  }

  std::shared_ptr<detail::asio_bell> bell_;
  reader<Source> from_;  // destroyed first (R7)
};
template <flow Source>
asio_reader(asio::any_io_executor, Source) -> asio_reader<Source>;

}  // namespace weir::flow

#endif  // ASIO_HAS_CO_AWAIT
