#include <weir/core/thread.h>

#include <cassert>

#include <pthread.h>

namespace weir {

thread::thread(std::string name, std::function<void()> body) {
  [[maybe_unused]] static constexpr std::size_t name_size_max = 15;
  assert(!name.empty() && name.size() <= name_size_max);
  running_ = std::jthread([name = std::move(name), body = std::move(body)] {
    // From inside, so that the first thing a debugger or a profiler sees of the thread has its name.
    ::pthread_setname_np(::pthread_self(), name.c_str());
    body();
  });
}

}  // namespace weir
