// A coroutine that is a flow, and one that reads from it. Both wait without a thread of their own: here the calling thread runs
// them, and sleeps while there is nothing to do.

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/any_flow.h>
#include <weir/flow/async.h>
#include <weir/flow/generator.h>
#include <weir/flow/next.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>

namespace flow = weir::flow;

// Gives a sentence for each number that is the sum of the two before it.
flow::generator<std::string> sums(flow::any_flow<int> numbers) {
  flow::reader in(std::move(numbers));
  int before = 0;
  int last = 0;
  for (;;) {
    auto item = co_await flow::next(in);
    if (!item) co_await item.error();
    if (!*item) co_return;
    const int number = **item;
    if (number == before + last) {
      std::string sentence = std::to_string(number) + " = " + std::to_string(before) + " + " + std::to_string(last);
      co_yield std::move(sentence);
    }
    before = last;
    last = number;
  }
}

flow::async<weir::result<int>> print_all(flow::any_flow<std::string> sentences) {
  flow::reader in(std::move(sentences));
  for (int count = 0;; ++count) {
    auto sentence = co_await flow::next(in);
    if (!sentence) co_return sentence.error();
    if (!*sentence) co_return count;
    std::printf("%s\n", (*sentence)->c_str());
  }
}

int main() {
  flow::worker other;  // where the numbers are made
  flow::any_flow<int> numbers = flow::from_range({1, 1, 2, 3, 4, 7, 11, 12}) | flow::observe_on(other);
  const auto count = flow::block_on(print_all(sums(std::move(numbers))));
  if (!count) std::printf("failed: %s\n", count.error().message.c_str());
  std::printf("%d of them\n", count ? *count : 0);
  return count ? 0 : 1;
}
