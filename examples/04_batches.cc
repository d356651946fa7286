// Batches that wait for nobody: a chunk closes when it is full, or when nothing more is ready.

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <weir/flow/chunks.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>

namespace flow = weir::flow;

// A source that gets its items in bursts, as a socket does: between two bursts nothing is ready. A real one would keep the
// waker and call it when the next burst is there; here it is there at once.
class bursts {
 public:
  using value_type = int;

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    for (; next_ < 20; --demand) {
      if (demand == 0) return flow::step::more;
      if (burst_ends_at(next_) && !std::exchange(paused_, true)) {
        cx.wake()();
        return flow::step::pending;
      }
      paused_ = false;
      emit(next_++);
    }
    return flow::step::done;
  }

 private:
  static bool burst_ends_at(int item) { return item == 1 || item == 4 || item == 14; }

  int next_ = 0;
  bool paused_ = false;
};

int main() {
  const auto end = bursts() | flow::chunks(8) | flow::for_each([](const std::vector<int>& chunk) {
                     std::printf("%2zu:", chunk.size());
                     for (const int item : chunk) std::printf(" %d", item);
                     std::printf("\n");
                   });
  return end ? 0 : 1;
}
