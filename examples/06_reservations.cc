// Several threads write into one ledger, and each transfer is two entries: a reservation keeps them next to each other
// and shows them both at once, or not at all.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include <weir/queue/mpsc_ring.h>
#include <weir/queue/spin.h>

namespace queue = weir::queue;

struct entry {
  int account;
  std::int64_t amount;
};

using ledger = queue::mpsc_ring<entry>;

constexpr int clerks = 3;
constexpr int transfers_each = 10'000;

// [producer
void transfer(ledger& to, int from_account, int to_account, std::int64_t amount) {
  // Another thread may be anywhere in its work, so a full ring is waited for; a mailbox would sleep.
  for (queue::spin wait; !to.closed() && !to.cancelled(); wait.pause()) {
    auto places = to.reserve(2);
    if (places.size() < 2) continue;  // the one place that there may have been is given up here, and passed over
    places.emplace(from_account, -amount);
    places.emplace(to_account, amount);
    return;  // and publishes both
  }
}
// producer]

int main() {
  ledger shared(256);

  std::vector<std::jthread> threads;
  for (int clerk = 0; clerk < clerks; ++clerk) {
    threads.emplace_back([&shared, clerk] {
      for (int i = 1; i <= transfers_each; ++i) transfer(shared, clerk, clerks, i);
    });
  }

  std::int64_t balances[clerks + 1] = {};
  int left = clerks * transfers_each, torn = 0;
  // [consumer
  for (queue::spin wait; left != 0;) {
    // An even number of entries, since all that is published is pairs.
    const auto entries = shared.readable(64);
    for (std::size_t at = 0; at + 1 < entries.size(); at += 2) {
      if (entries[at].amount + entries[at + 1].amount != 0) ++torn;
      balances[entries[at].account] += entries[at].amount;
      balances[entries[at + 1].account] += entries[at + 1].amount;
      --left;
    }
    shared.release(entries.size());
    if (entries.empty()) wait.pause();
  }
  // consumer]

  for (int account = 0; account <= clerks; ++account) {
    std::printf("account %d: %lld\n", account, static_cast<long long>(balances[account]));
  }
  std::printf("%d transfers torn\n", torn);
}
