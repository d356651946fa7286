// Your own few atomics under the model checker that Weir's queues are tested with: every schedule, and everything that
// the memory model lets a load read.

#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

#include <weir/queue/sync.h>
#include <weir/queue/testing/model.h>

namespace queue = weir::queue;
namespace model = weir::queue::testing::model;
using weir::queue::testing::model_item;
using weir::queue::testing::modelled;

// [slot
// What is to be tested: one place, through which one thread hands items to another. Sync is native where it ships.
template <class T, class Sync = queue::native>
class slot {
 public:
  /// The giver: false if the last item has not been taken yet.
  bool try_put(T&& item) {
    // Partner: the store in try_take. The place is empty, and may be written.
    if (full_.load(std::memory_order_acquire)) return false;
    item_.emplace(std::move(item));
    full_.store(true, std::memory_order_release);
    return true;
  }
  /// The taker: nothing if there is no item.
  std::optional<T> try_take() {
    // Partner: the store in try_put. The item is whole.
    if (!full_.load(std::memory_order_acquire)) return std::nullopt;
    std::optional<T> item = std::move(item_);
    item_.reset();
    full_.store(false, std::memory_order_release);
    return item;
  }

 private:
  std::optional<T> item_;
  typename Sync::template atomic<bool> full_{false};
};
// slot]

// [scenario
// Two items through the one place, so that it is used again.
void hand_over(model::execution& run) {
  slot<model_item, modelled> place;
  run.threads(
      [&] {
        modelled::spin wait;
        for (int number = 1; number <= 2; ++number) {
          while (!place.try_put(model_item(number))) wait.pause();
        }
      },
      [&] {
        modelled::spin wait;
        for (int number = 1; number <= 2;) {
          if (const std::optional<model_item> item = place.try_take()) {
            model::expect(item->value() == number++, "items come in order");
          } else {
            wait.pause();
          }
        }
      });
}
// scenario]

int main() {
  // [main
  const model::report report = model::explore(hand_over);
  std::printf("in every schedule: %s\n", report.holds() ? "holds" : report.text().c_str());

  // And is each memory order needed? Each is weakened in turn, and the scenario must notice.
  const model::weaken_report orders = model::weaken_each({hand_over}, "11_model_check.cc");
  std::printf("%s\n", orders.text().c_str());
  return report.holds() && orders.all_needed() ? 0 : 1;
  // main]
}
