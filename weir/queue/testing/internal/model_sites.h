#pragma once

// The places in the source where operations on atomics stand, and the orders in force there.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

[[nodiscard]] constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel;
}
[[nodiscard]] constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel;
}

/// Whether the checker can answer for the order.
[[nodiscard]] constexpr bool is_modelled(operation what, std::memory_order order) noexcept {
  if (order == std::memory_order_seq_cst || order == std::memory_order_consume) return false;
  if (what == operation::load) return !releases(order);
  if (what == operation::store) return !acquires(order);
  return true;
}

/// A site and what it does in this exploration.
struct known_site {
  site at;
  std::memory_order order;  // in force: weakened, if this is the one
  std::memory_order failure;
  bool modelled;
};

/// All sites met. Survives executions; an operation finds its site by comparing a few numbers.
class site_table {
 public:
  explicit site_table(const std::optional<weakening>& weaken) : weaken_(weaken) {}

  std::uint32_t find(const std::source_location& where, operation what, std::memory_order order,
                     std::memory_order failure) {
    const key wanted{where.file_name(), where.line(), where.column(), what, order, failure};
    for (std::size_t at = start(wanted);; at = (at + 1) & (slots_.size() - 1)) {
      slot& here = slots_[at];
      if (here.number == none) {
        here = {wanted, add(wanted)};
        const std::uint32_t number = here.number;
        if (++used_ * 2 >= slots_.size()) grow();
        return number;
      }
      if (here.of == wanted) return here.number;
    }
  }

  [[nodiscard]] const known_site& operator[](std::uint32_t number) const noexcept { return sites_[number]; }

  [[nodiscard]] std::vector<site> all() const {
    std::vector<site> out;
    for (const known_site& each : sites_) out.push_back(each.at);
    return out;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct key {
    // One file can have a name at several addresses; then it has several slots, and one site.
    const char* file = nullptr;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    operation what = operation::load;
    std::memory_order order = std::memory_order_relaxed;
    std::memory_order failure = std::memory_order_relaxed;

    friend bool operator==(const key&, const key&) = default;
  };
  struct slot {
    key of;
    std::uint32_t number = none;
  };

  [[nodiscard]] std::size_t start(const key& of) const noexcept {
    const std::uint64_t mixed =
        (reinterpret_cast<std::uintptr_t>(of.file) + (std::uint64_t{of.line} << 20) + of.column) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
  }

  std::uint32_t add(const key& of) {
    const site made{of.file, of.line, of.column, of.what, of.order, of.failure};
    for (std::uint32_t i = 0; i < sites_.size(); ++i) {
      if (sites_[i].at == made) return i;
    }
    known_site known{made, of.order, of.failure, is_modelled(of.what, of.order)};
    if (has_failure_order(of.what)) known.modelled = known.modelled && is_modelled(operation::load, of.failure);
    if (weaken_ && weaken_->at == made) (weaken_->of_failure ? known.failure : known.order) = weaken_->to;
    sites_.push_back(known);
    return static_cast<std::uint32_t>(sites_.size() - 1);
  }

  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const slot& each : old) {
      if (each.number == none) continue;
      std::size_t at = start(each.of);
      while (slots_[at].number != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = each;
    }
  }

  std::optional<weakening> weaken_;
  std::vector<known_site> sites_;
  std::vector<slot> slots_ = std::vector<slot>(128);
  std::size_t used_ = 0;
};

}  // namespace weir::queue::testing::model::internal
