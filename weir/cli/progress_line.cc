#include <weir/cli/progress_line.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include <weir/cli/text.h>

namespace weir::cli {
namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr std::uint64_t terminal_every_ns = 100'000'000, plain_every_ns = 2'000'000'000;
constexpr int bar_width = 24;

}  // namespace

std::string progress_text(const std::string& what, const std::string& items, double fraction, std::uint64_t count,
                          double seconds, bool with_bar) {
  std::string text = what;
  if (fraction >= 0) {
    fraction = std::clamp(fraction, 0.0, 1.0);
    if (with_bar) {
      const int filled = static_cast<int>(fraction * bar_width);
      text += fmt::format("  [{:#<{}}{:.<{}}]", "", filled, "", bar_width - filled);
    }
    text += fmt::format("  {:3.0f} %", fraction * 100);
  }
  text += fmt::format("  {} {}  {}", with_commas(count), items, as_rate(count, seconds));
  // Before a hundredth is done the guess would jump about.
  if (fraction >= 0.01 && fraction < 1)
    text += fmt::format("  {} left", as_duration(seconds * (1 - fraction) / fraction));
  return text;
}

progress_line::progress_line(std::string what, std::string items, clock& time)
    : what_(std::move(what)),
      items_(std::move(items)),
      time_(time),
      began_ns_(time.steady_ns()),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  if (drawn_ && terminal_) std::fputs("\r\x1b[K", stderr);
}

double progress_line::seconds() const { return static_cast<double>(time_.steady_ns() - began_ns_) / 1e9; }

void progress_line::show(double fraction, std::uint64_t items) {
  const std::uint64_t now = time_.steady_ns();
  const std::uint64_t since = now - (shown_ns_ != 0 ? shown_ns_ : terminal_ ? 0 : began_ns_);
  if (since < (terminal_ ? terminal_every_ns : plain_every_ns)) return;
  shown_ns_ = now;
  drawn_ = true;
  const std::string text = progress_text(what_, items_, fraction, items, seconds(), terminal_);
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
}

}  // namespace weir::cli
