// An operator of one's own, run through the suite that Weir's operators pass, and pulled by hand.

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace flow = weir::flow;

// The operator: gives the first item, the third, the fifth, ...
template <flow::flow Source>
class every_second_flow {
 public:
  using value_type = flow::value_of<Source>;
  explicit every_second_flow(Source source) : source_(std::move(source)) {}

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    std::size_t examined = 0;
    while (demand != 0) {
      std::size_t asked = demand;  // never more than may be given
      const std::size_t before = asked;
      const flow::step why = source_.pull(
          asked,
          [&](value_type&& item) {
            if (!std::exchange(wanted_, !wanted_)) return;
            --demand;
            emit(std::move(item));
          },
          cx);
      if (why != flow::step::more) return why;  // pending and ends pass through
      examined += before - asked;
      if (demand != 0 && examined >= weir::limits::run_items) {
        cx.wake()();  // others have their turn, and then this one goes on
        return flow::step::pending;
      }
    }
    return flow::step::more;
  }

 private:
  Source source_;
  bool wanted_ = true;
};

// `every_second(flow)`, and `flow | every_second()`.
template <flow::flow Source>
auto every_second(Source source) {
  return every_second_flow<Source>(std::move(source));
}
inline auto every_second() {
  return flow::make_closure([]<flow::flow Source>(Source source) { return every_second(std::move(source)); });
}

int main() {
  namespace kit = flow::testing;

  // All small scripts of a source, all demands, all moments to leave. The source gives 1, 2, 3, ... and then ends.
  std::string wrong = kit::conforms([](kit::script from) { return std::move(from) | every_second(); },
                                    [](const std::vector<int>& numbers, flow::step end) {
                                      kit::outcome right{{}, end};
                                      for (std::size_t i = 0; i < numbers.size(); i += 2)
                                        right.numbers.push_back(numbers[i]);
                                      return right;
                                    });

  // One run by hand, a pull at a time.
  if (wrong.empty()) {
    kit::test_consumer seen(flow::from_range({10, 20, 30, 40, 50}) | every_second());
    seen.request(2);
    wrong = seen.came({10, 30});
    seen.request_all();
    if (wrong.empty()) wrong = seen.came({10, 30, 50}, flow::step::done);
  }
  std::printf("%s\n", wrong.empty() ? "keeps the contract" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
