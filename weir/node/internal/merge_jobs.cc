#include <weir/node/internal/merge_jobs.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/flow/sources.h>

namespace weir::node::internal {

// What the merge's thread tells and the flow reads. The waker is called with the mutex held, so that a flow that has
// forgotten its waker under the mutex knows that it is not called any more; a waker only posts.
struct merge_jobs::job {
  std::stop_source stop;
  std::atomic<bool> over{false};  // pairs with reap(): the thread has nothing left to do but end
  thread runs;

  std::mutex mutex;
  // guarded by mutex:
  merge::progress latest;
  bool news = false;
  bool ended = false;
  std::optional<error> failure;
  flow::waker wake;

  void tell(const merge::progress& so_far) {
    const std::lock_guard guard(mutex);
    latest = so_far;
    news = true;
    std::exchange(wake, {})();
  }
  void end(merge::outcome how) {
    const std::lock_guard guard(mutex);
    latest = how.done;
    news = true;
    failure = std::move(how.failure);
    ended = true;
    std::exchange(wake, {})();
  }
};

class merge_jobs::news {
 public:
  using value_type = merge::progress;

  explicit news(std::shared_ptr<job> of) : job_(std::move(of)) {}
  news(news&&) noexcept = default;
  news& operator=(news&&) = delete;
  ~news() {
    if (!job_) return;
    job_->stop.request_stop();
    const std::lock_guard guard(job_->mutex);
    job_->wake = {};
  }

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    std::optional<merge::progress> fresh;
    flow::step why = flow::step::more;
    {
      const std::lock_guard guard(job_->mutex);
      if (demand > 0 && std::exchange(job_->news, false)) fresh = job_->latest;
      // Without demand the end waits too: the last news go before it.
      if (!job_->news) why = job_->ended ? end(cx) : wait(cx);
    }
    if (fresh) {
      --demand;
      emit(*std::move(fresh));
    }
    return why;
  }

 private:
  flow::step end(flow::context& cx) { return job_->failure ? cx.fail(*job_->failure) : flow::step::done; }
  flow::step wait(flow::context& cx) {
    job_->wake = cx.wake();
    return flow::step::pending;
  }

  std::shared_ptr<job> job_;
};

merge_jobs::~merge_jobs() {
  std::vector<std::shared_ptr<job>> last;
  {
    const std::lock_guard guard(mutex_);
    last.swap(running_);
  }
  for (const auto& each : last) each->stop.request_stop();
  for (const auto& each : last) each->runs.join();
}

flow::any_flow<merge::progress> merge_jobs::start(net::endpoint peer, store::query asked, std::size_t lanes) {
  const std::lock_guard guard(mutex_);
  reap();
  if (running_.size() >= limits::merges_max)
    return flow::fail<merge::progress>(
        fail(errc::refused, fmt::format("this node runs {} merges already; wait for one to end", limits::merges_max)));
  auto started = std::make_shared<job>();
  running_.push_back(started);
  started->runs =
      thread("weir-merging", [this, job = started.get(), peer = std::move(peer), asked = std::move(asked), lanes] {
        merge::options how;
        how.lanes = lanes;
        how.stop = job->stop.get_token();
        how.on_progress = [job](const merge::progress& so_far) { job->tell(so_far); };
        job->end(api_.merge(peer, asked, how));
        job->over.store(true, std::memory_order_release);
      });
  return news(std::move(started));
}

void merge_jobs::reap() {
  std::erase_if(running_, [](const std::shared_ptr<job>& each) {
    if (!each->over.load(std::memory_order_acquire)) return false;
    each->runs.join();
    return true;
  });
}

}  // namespace weir::node::internal
