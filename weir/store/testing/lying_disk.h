#pragma once

namespace weir::store::testing {

/// While it lives, databases that are opened can be made to fail when their log is synced, after it was written: what
/// is on the disk then nobody knows. Close them before it goes. One at a time, one thread.
class lying_disk {
 public:
  lying_disk();
  lying_disk(const lying_disk&) = delete;
  lying_disk& operator=(const lying_disk&) = delete;
  ~lying_disk();

  void fail_syncs(bool failing);
};

}  // namespace weir::store::testing
