#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// Places for one batch of items, on the stack and uninitialised until an item is put there.
///   Memory  8 KiB, or one item where an item is larger; never more than 256 items, from where on the cost of the
///           indirect call no longer shows.
///   Invariant  exactly the items [0, size) are alive; the destructor destroys them.
template <class T>
class item_buffer {
 public:
  static constexpr std::size_t capacity = std::clamp<std::size_t>(8192 / sizeof(T), 1, 256);

  // Not defaulted: a defaulted constructor would let `item_buffer b{}` zero 8 KiB.
  item_buffer() noexcept {}  // NOLINT(modernize-use-equals-default)
  item_buffer(const item_buffer&) = delete;
  item_buffer& operator=(const item_buffer&) = delete;
  ~item_buffer() { clear(); }

  [[nodiscard]] std::span<T> items() noexcept { return {data(), size_}; }

  void clear() noexcept {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

  /// Puts items behind those that are there. Keeps the count in a local variable while the flow runs, and gives it
  /// back at the end, also when an exception passes.
  class appender {
   public:
    explicit appender(item_buffer& to) noexcept : to_(to), at_(to.data() + to.size_) {}
    appender(const appender&) = delete;
    appender& operator=(const appender&) = delete;
    ~appender() { to_.size_ = static_cast<std::size_t>(at_ - to_.data()); }

    void operator()(T&& item) {
      ::new (static_cast<void*>(at_)) T(std::move(item));
      ++at_;
    }
    void run(std::span<T> items) {
      if constexpr (std::is_nothrow_move_constructible_v<T>) {
        at_ = std::uninitialized_move(items.begin(), items.end(), at_);
      } else {
        for (T& item : items) (*this)(std::move(item));
      }
    }

   private:
    item_buffer& to_;
    T* at_;
  };

 private:
  T* data() noexcept { return std::launder(reinterpret_cast<T*>(storage_)); }

  std::size_t size_ = 0;
  alignas(T) std::byte storage_[capacity * sizeof(T)];
};

}  // namespace detail

/// A flow of T whose type is forgotten: one indirect call per batch, not per item. Move-only; empty by default, which
/// is a flow that is done.
///   Owns     the flow, in one allocation; nothing is allocated after construction.
///   Memory   a pull keeps at most one item_buffer of items on the stack.
///   Threads  confined, as the flow it holds.
///   Order    items that came before a failure or an exception are given before it.
template <class T>
class any_flow {
 public:
  using value_type = T;

  any_flow() = default;

  /// Takes the flow. Implicit: an any_flow is what functions ask for.
  template <class Flow>
    requires(!std::same_as<Flow, any_flow>) && std::same_as<typename Flow::value_type, T> && detail::pullable<Flow>
  any_flow(Flow from) : flow_(std::make_unique<holder<Flow>>(std::move(from))) {}  // NOLINT

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!flow_) return step::done;
    detail::item_buffer<T> buffer;
    while (demand != 0) {
      const std::size_t wanted = std::min(demand, buffer.capacity);
      step why;
      try {
        why = flow_->fill(buffer, wanted, cx);
      } catch (...) {
        deliver(buffer, demand, emit);
        throw;
      }
      deliver(buffer, demand, emit);
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  using buffer_type = detail::item_buffer<T>;

  struct erased {
    virtual ~erased() = default;
    virtual step fill(buffer_type& buffer, std::size_t demand, context& cx) = 0;
  };

  template <class Flow>
  struct holder final : erased {
    explicit holder(Flow&& from) : flow(std::move(from)) {}
    step fill(buffer_type& buffer, std::size_t demand, context& cx) override {
      typename buffer_type::appender append(buffer);
      return flow.pull(demand, append, cx);
    }
    Flow flow;
  };

  // When emit throws, the buffer destroys what was not given; the flow has ended then (R6).
  template <class Emit>
  static void deliver(buffer_type& buffer, std::size_t& demand, Emit&& emit) {
    demand -= buffer.items().size();
    emit_run(emit, buffer.items());
    buffer.clear();
  }

  std::unique_ptr<erased> flow_;
};

/// Forgets the type of a flow: `erase(flow)`, or `flow | erase()`.
template <flow Flow>
any_flow<value_of<Flow>> erase(Flow from) {
  return any_flow<value_of<Flow>>(std::move(from));
}
inline auto erase() {
  return detail::make_closure([](auto from) { return erase(std::move(from)); });
}

}  // namespace weir::flow
