#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include <weir/core/thread.h>
#include <weir/flow/any_flow.h>
#include <weir/node/api.h>

namespace weir::node::internal {

/// Runs merges for the node's owner, each on a thread of its own, and tells their progress as flows.
///   Threads  start from any; the flows are pulled wherever the caller likes.
///   Bounds   limits::merges_max at once.
class merge_jobs {
 public:
  ///   on  does the merges; outlives the jobs
  explicit merge_jobs(api& on) : api_(on) {}
  ~merge_jobs();  ///< stops what still runs and waits for it: no longer than one durable write takes

  /// Starts a merge. The flow gives the newest progress whenever it is pulled and there is news (older news is left out:
  /// every progress includes the ones before), the last one always, then ends as the merge does. Destroying the flow
  /// stops the merge; it does not wait for that.
  flow::any_flow<merge::progress> start(net::endpoint peer, store::query asked, std::size_t lanes);

 private:
  struct job;
  class news;
  void reap();

  api& api_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<job>> running_;  // guarded by mutex_
};

}  // namespace weir::node::internal
