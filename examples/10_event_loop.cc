// A mailbox at an event loop: the loop may not sleep at the mailbox, so it asks to be woken by what it does sleep at,
// an eventfd among its other descriptors.

#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <weir/queue/mailbox.h>

namespace queue = weir::queue;

class event_loop {
 public:
  event_loop() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~event_loop() { ::close(wake_); }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Wakes the loop, from any thread: one write, and no lock of ours.
  queue::wake_action waker() {
    return {[](void* loop) noexcept { (void)::eventfd_write(static_cast<event_loop*>(loop)->wake_, 1); }, this};
  }

  /// One turn: sees what is ready, and waits for it if there is nothing else to do. A real loop has its sockets beside
  /// the eventfd.
  void turn(bool may_sleep) {
    pollfd events[] = {{wake_, POLLIN, 0}};
    (void)::poll(events, 1, may_sleep ? -1 : 0);
    eventfd_t wakes = 0;
    (void)::eventfd_read(wake_, &wakes);
  }

 private:
  const int wake_;
};

int main() {
  event_loop loop;
  queue::mailbox<std::string> inbox(128);

  std::vector<std::jthread> senders;
  for (const char* name : {"river", "lake"}) {
    senders.emplace_back([&inbox, name] {
      for (int i = 0; i < 5'000; ++i) (void)inbox.push(name);
    });
  }
  std::jthread closer([&] {
    for (std::jthread& each : senders) each.join();
    inbox.close();
  });

  std::size_t rivers = 0, lakes = 0;
  // [loop
  while (!inbox.ended()) {
    // A budget, so that the loop's other work gets its turn even while the inbox is never empty.
    inbox.consume(64, [&](std::string&& name) { ++(name == "river" ? rivers : lakes); });
    loop.turn(inbox.park(loop.waker()));
  }
  // No sender is inside the waker when this returns, so that the loop may go.
  inbox.withdraw();
  // loop]
  std::printf("%zu from the river, %zu from the lake\n", rivers, lakes);
}
