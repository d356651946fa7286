#include <weir/store/testing/lying_disk.h>

#include <map>
#include <string_view>

#include <sqlite3.h>

namespace weir::store::testing {

namespace {

// One place for the whole test program: SQLite knows its file systems by global names.
struct disk {
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs fake{};
  sqlite3_io_methods methods{};                               // the real ones, with another xSync
  std::map<sqlite3_file*, const sqlite3_io_methods*> opened;  // log files, and their real methods
  bool failing = false;
};

disk& the_disk() {
  static disk d;
  return d;
}

int sync(sqlite3_file* file, int flags) {
  if (the_disk().failing) return SQLITE_IOERR_FSYNC;
  return the_disk().opened.at(file)->xSync(file, flags);
}

int close(sqlite3_file* file) {
  const auto found = the_disk().opened.find(file);
  const sqlite3_io_methods* real = found->second;
  the_disk().opened.erase(found);
  return real->xClose(file);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  disk& d = the_disk();
  const int code = d.real->xOpen(d.real, name, file, flags, out_flags);
  if (code != SQLITE_OK || name == nullptr || !std::string_view(name).ends_with("-wal")) return code;
  d.opened[file] = file->pMethods;
  d.methods = *file->pMethods;
  d.methods.xSync = sync;
  d.methods.xClose = close;
  file->pMethods = &d.methods;
  return code;
}

}  // namespace

lying_disk::lying_disk() {
  disk& d = the_disk();
  d.real = sqlite3_vfs_find(nullptr);
  d.fake = *d.real;
  d.fake.zName = "lying";
  d.fake.xOpen = open;
  sqlite3_vfs_register(&d.fake, 1);
}

lying_disk::~lying_disk() {
  disk& d = the_disk();
  sqlite3_vfs_register(d.real, 1);
  sqlite3_vfs_unregister(&d.fake);
  d.failing = false;
}

void lying_disk::fail_syncs(bool failing) { the_disk().failing = failing; }

}  // namespace weir::store::testing
