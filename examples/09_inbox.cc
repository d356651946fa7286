// An actor: a thread that alone has its state, and an inbox through which others ask for what they want. Senders wait
// when the inbox is full, the actor sleeps when it is empty.

#include <cstdint>
#include <cstdio>
#include <future>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <weir/queue/mailbox.h>

namespace queue = weir::queue;

struct deposit {
  std::int64_t amount;
};
struct balance_of {
  std::promise<std::int64_t> answer;
};
using message = std::variant<deposit, balance_of>;

class account {
 public:
  /// Waits while the inbox is full; false if the account is closed.
  bool send(message what) { return inbox_.push(std::move(what)) == queue::push_outcome::pushed; }
  /// What is in the inbox is still done; the destructor waits for that.
  void close() { inbox_.close(); }
  ~account() { close(); }

 private:
  void run() {
    message next;
    while (inbox_.pop(next) == queue::pop_outcome::popped) std::visit([this](auto& what) { handle(what); }, next);
  }
  void handle(const deposit& what) { balance_ += what.amount; }
  void handle(balance_of& what) { what.answer.set_value(balance_); }

  std::int64_t balance_ = 0;  // the thread's alone: no lock
  queue::mailbox<message> inbox_{64};
  std::jthread thread_{[this] { run(); }};  // last, so that it ends before the inbox does
};

int main() {
  account shared;
  {
    std::vector<std::jthread> payers;
    for (int payer = 0; payer < 3; ++payer) {
      payers.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) (void)shared.send(deposit{1});
      });
    }
  }

  balance_of question;
  std::future<std::int64_t> answer = question.answer.get_future();
  if (shared.send(std::move(question))) std::printf("balance %lld\n", static_cast<long long>(answer.get()));

  shared.close();
  std::printf("a deposit after the end: %s\n", shared.send(deposit{1}) ? "taken" : "refused");
}
