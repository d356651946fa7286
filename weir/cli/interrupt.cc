#include <weir/cli/interrupt.h>

#include <csignal>

#include <unistd.h>

#include <weir/cli/exit_status.h>

namespace weir::cli {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

interrupt::interrupt() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A closed pipe, or a file that may not grow, is an error of the write that meets it.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  waits_ = thread("weir-signals", [this, set] {
    for (int signals = 0;;) {
      int number = 0;
      sigwait(&set, &number);
      if (over_.load()) return;
      if (++signals > 1) ::_exit(exit_interrupted);
      source_.request_stop();
    }
  });
}

interrupt::~interrupt() {
  over_.store(true);
  ::kill(::getpid(), SIGTERM);  // wakes the thread above: every other one blocks it
  waits_.join();
}

void interrupt::wait() {
  std::atomic<bool> stopped{false};
  const std::stop_callback on_stop(token(), [&] {
    stopped.store(true);
    stopped.notify_all();
  });
  stopped.wait(false);
}

}  // namespace weir::cli
