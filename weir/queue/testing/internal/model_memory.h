#pragma once

// The memory that the model checker's threads share: for every atomic the list of all its stores, for every thread what
// it can still read of them, and for plain data who touched it last.
//
//     atomic     store 0     store 1     store 2     store 3        in the order of their execution,
//                   |           |           |           |           which is the modification order
//                   |         floor of thread a         floor of thread b
//                   |           |<-- a may read these ->|
//
// Invariants
//   - A thread's floor of an atomic only rises: to what it reads or writes itself, and to the floors of whomever it
//     synchronises with. So reads are coherent.
//   - A thread's clock counts its own operations, and says up to which operation of each other thread everything
//     happens before what it does next.
//   - A store's message is what its reader learns by an acquire: floors and clock of the releasing thread, and of those
//     whose release sequence it continues.
//
// What it does not do: choose. The engine says which store is read; here is what follows from it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

/// The scenario itself is thread 0; it may start four more at once.
inline constexpr std::size_t threads_max = 5;

using thread_index = std::uint8_t;
using object_index = std::uint32_t;
using clock = std::array<std::uint32_t, threads_max>;

inline constexpr object_index no_object = ~object_index{0};

/// What a thread knows of the others, or a message carries.
struct knowledge {
  clock seen{};
  std::vector<std::uint32_t> floors;  // by atomic; those beyond the end are 0

  [[nodiscard]] std::uint32_t floor(object_index of) const noexcept { return of < floors.size() ? floors[of] : 0; }

  void raise(object_index of, std::uint32_t to) {
    if (of >= floors.size()) floors.resize(of + 1, 0);
    if (floors[of] < to) floors[of] = to;
  }

  void join(const knowledge& other) {
    for (std::size_t i = 0; i < threads_max; ++i) {
      if (seen[i] < other.seen[i]) seen[i] = other.seen[i];
    }
    if (floors.size() < other.floors.size()) floors.resize(other.floors.size(), 0);
    for (std::size_t i = 0; i < other.floors.size(); ++i) {
      if (floors[i] < other.floors[i]) floors[i] = other.floors[i];
    }
  }

  void clear() noexcept {
    seen.fill(0);
    floors.clear();
  }
};

/// From addresses to numbers. Emptied in constant time, because that happens before every execution.
class address_table {
 public:
  void clear() noexcept {
    ++generation_;
    used_ = 0;
  }

  [[nodiscard]] object_index find(const void* address) const noexcept {
    for (std::size_t at = start(address);; at = (at + 1) & (slots_.size() - 1)) {
      const slot& here = slots_[at];
      if (here.generation != generation_) return no_object;
      if (here.address == address) return here.value;
    }
  }

  void set(const void* address, object_index value) {
    if (used_ * 2 >= slots_.size()) grow();
    for (std::size_t at = start(address);; at = (at + 1) & (slots_.size() - 1)) {
      slot& here = slots_[at];
      const bool fresh = here.generation != generation_;
      if (!fresh && here.address != address) continue;
      if (fresh) ++used_;
      here = {address, generation_, value};
      return;
    }
  }

 private:
  struct slot {
    const void* address = nullptr;
    std::uint64_t generation = 0;
    object_index value = no_object;
  };

  [[nodiscard]] std::size_t start(const void* address) const noexcept {
    // Fibonacci hashing: neighbouring addresses land far apart.
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    used_ = 0;
    for (const slot& each : old) {
      if (each.generation == generation_) set(each.address, each.value);
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(64);
  std::uint64_t generation_ = 1;
  std::size_t used_ = 0;
};

/// A mistake of the code under test.
struct problem {
  failure what = failure::none;
  const char* text = nullptr;

  [[nodiscard]] explicit operator bool() const noexcept { return what != failure::none; }
};

/// Everything shared in one execution.
///   Threads  confined.
class memory {
 public:
  void reset() {
    atomics_used_ = 0;
    messages_used_ = 0;
    plains_.clear();
    atomic_at_.clear();
    plain_at_.clear();
    for (knowledge& each : threads_) each.clear();
    for (std::size_t i = 0; i < threads_max; ++i) threads_[i].seen[i] = 1;
  }

  // --- threads ---------------------------------------------------------------------------------------------------

  /// Everything that the scenario did so far happens before what `thread` does.
  void fork(thread_index thread) {
    const std::uint32_t own = threads_[thread].seen[thread];
    threads_[thread].join(threads_[0]);
    threads_[thread].seen[thread] = own;
  }
  /// Everything that `thread` did happens before what the scenario does next.
  void join(thread_index thread) { threads_[0].join(threads_[thread]); }
  /// An operation of the thread ends: what it does from here on is not part of what it has released.
  void tick(thread_index thread) noexcept { ++threads_[thread].seen[thread]; }

  // --- atomics ---------------------------------------------------------------------------------------------------

  struct store {
    std::uint64_t value;
    std::int32_t message;  // -1: none
    thread_index thread;
  };

  object_index make_atomic(thread_index thread, const void* address, std::uint64_t value) {
    const auto object = static_cast<object_index>(atomics_used_);
    if (atomics_used_ == atomics_.size()) atomics_.emplace_back();
    ++atomics_used_;
    atomic_record& made = atomics_[object];
    made.alive = true;
    made.maker = thread;
    made.made_at = threads_[thread].seen[thread];
    made.used.fill(0);
    made.stores.clear();
    made.stores.push_back({value, -1, thread});
    atomic_at_.set(address, object);
    return object;
  }

  problem destroy_atomic(thread_index thread, const void* address) {
    const object_index object = atomic_at_.find(address);
    if (object == no_object || !atomics_[object].alive)
      return {failure::lifetime, "an atomic is destroyed that does not exist"};
    atomic_record& gone = atomics_[object];
    gone.alive = false;
    const clock& seen = threads_[thread].seen;
    for (std::size_t i = 0; i < threads_max; ++i) {
      if (i != thread && gone.used[i] > seen[i]) {
        return {failure::race,
                "data race: an atomic is destroyed while another thread's use of it is not known to be over"};
      }
    }
    if (gone.maker != thread && gone.made_at > seen[gone.maker]) {
      return {failure::race, "data race: an atomic is destroyed, and its construction does not happen before"};
    }
    return {};
  }

  [[nodiscard]] object_index find_atomic(const void* address) const noexcept { return atomic_at_.find(address); }

  /// To be asked before each operation.
  problem use_atomic(thread_index thread, object_index object) noexcept {
    if (object == no_object) return {failure::lifetime, "use of an atomic that was never constructed"};
    atomic_record& used = atomics_[object];
    if (!used.alive) return {failure::lifetime, "use after free: the atomic is destroyed"};
    const clock& seen = threads_[thread].seen;
    if (used.maker != thread && used.made_at > seen[used.maker]) {
      return {failure::race, "data race: an atomic is used, and its construction does not happen before"};
    }
    used.used[thread] = seen[thread];
    return {};
  }

  [[nodiscard]] std::uint32_t newest(object_index object) const noexcept {
    return static_cast<std::uint32_t>(atomics_[object].stores.size() - 1);
  }
  /// The oldest store that the thread may read.
  [[nodiscard]] std::uint32_t floor(thread_index thread, object_index object) const noexcept {
    return threads_[thread].floor(object);
  }
  [[nodiscard]] std::uint64_t value(object_index object, std::uint32_t at) const noexcept {
    return atomics_[object].stores[at].value;
  }

  void read(thread_index thread, object_index object, std::uint32_t at, bool acquire) {
    threads_[thread].raise(object, at);
    if (!acquire) return;
    const std::int32_t message = atomics_[object].stores[at].message;
    if (message >= 0) threads_[thread].join(messages_[static_cast<std::size_t>(message)]);
  }

  /// Appends a store. With `continues`, the store is a read-modify-write's and carries on the release sequence of the
  /// newest store.
  void write(thread_index thread, object_index object, std::uint64_t value, bool release, bool continues) {
    std::vector<store>& stores = atomics_[object].stores;
    const std::int32_t carried = continues ? stores.back().message : -1;
    threads_[thread].raise(object, static_cast<std::uint32_t>(stores.size()));
    std::int32_t message = carried;
    if (release) {
      message = new_message(threads_[thread]);
      if (carried >= 0) {
        messages_[static_cast<std::size_t>(message)].join(messages_[static_cast<std::size_t>(carried)]);
      }
    }
    stores.push_back({value, message, thread});
  }

  [[nodiscard]] std::size_t atomics_alive() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < atomics_used_; ++i) count += atomics_[i].alive ? 1 : 0;
    return count;
  }

  // --- plain data ------------------------------------------------------------------------------------------------

  problem make_plain(thread_index thread, const void* address) {
    object_index object = plain_at_.find(address);
    if (object != no_object && plains_[object].alive)
      return {failure::lifetime, "construction over an item that is alive"};
    if (object == no_object) {
      object = static_cast<object_index>(plains_.size());
      plains_.emplace_back();
      plain_at_.set(address, object);
    }
    // Whatever was here before must be over for this thread, as for any write.
    const problem found = check_plain(thread, plains_[object], true);
    plains_[object].alive = true;
    return found;
  }

  problem destroy_plain(thread_index thread, const void* address) {
    const object_index object = plain_at_.find(address);
    if (object == no_object) return {failure::lifetime, "destruction of an item that was never constructed"};
    if (!plains_[object].alive) return {failure::lifetime, "destruction of an item that is destroyed already"};
    plains_[object].alive = false;
    return check_plain(thread, plains_[object], true);
  }

  problem use_plain(thread_index thread, const void* address, bool write) {
    const object_index object = plain_at_.find(address);
    if (object == no_object) return {failure::lifetime, "use of an item that was never constructed"};
    if (!plains_[object].alive) return {failure::lifetime, "use of an item that is destroyed"};
    return check_plain(thread, plains_[object], write);
  }

  [[nodiscard]] object_index find_plain(const void* address) const noexcept { return plain_at_.find(address); }

  [[nodiscard]] std::size_t plains_alive() const noexcept {
    std::size_t count = 0;
    for (const plain_record& each : plains_) count += each.alive ? 1 : 0;
    return count;
  }

 private:
  struct atomic_record {
    bool alive = false;
    thread_index maker = 0;
    std::uint32_t made_at = 0;
    clock used{};  // by thread: its last operation here
    std::vector<store> stores;
  };
  struct plain_record {
    bool alive = false;
    thread_index writer = 0;
    std::uint32_t written_at = 0;
    clock read_at{};
  };

  problem check_plain(thread_index thread, plain_record& data, bool write) noexcept {
    const clock& seen = threads_[thread].seen;
    if (data.writer != thread && data.written_at > seen[data.writer]) {
      return {failure::race, write ? "data race: two threads write an item"
                                   : "data race: an item is read while another thread writes it"};
    }
    if (!write) {
      data.read_at[thread] = seen[thread];
      return {};
    }
    for (std::size_t i = 0; i < threads_max; ++i) {
      if (i != thread && data.read_at[i] > seen[i]) {
        return {failure::race, "data race: an item is written while another thread reads it"};
      }
    }
    data.writer = thread;
    data.written_at = seen[thread];
    return {};
  }

  std::int32_t new_message(const knowledge& content) {
    if (messages_used_ == messages_.size()) messages_.emplace_back();
    messages_[messages_used_] = content;
    return static_cast<std::int32_t>(messages_used_++);
  }

  std::array<knowledge, threads_max> threads_;
  // What an execution leaves is used by the next, so that most executions allocate nothing here.
  std::deque<atomic_record> atomics_;
  std::size_t atomics_used_ = 0;
  std::deque<knowledge> messages_;
  std::size_t messages_used_ = 0;
  std::vector<plain_record> plains_;
  address_table atomic_at_;
  address_table plain_at_;
};

}  // namespace weir::queue::testing::model::internal
