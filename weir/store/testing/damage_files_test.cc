#include <weir/store/testing/damage_files.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace weir::store::testing {

bytes read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes(std::istreambuf_iterator<char>(in), {});
}

void write_whole(const std::filesystem::path& path, bytes_view octets) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
}

void flip_bit(const std::filesystem::path& path, std::uint64_t offset) {
  bytes octets = read_whole(path);
  octets.at(offset) ^= 1;
  write_whole(path, octets);
}

void copy_store(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::create_directories(to / "objects");
  for (const char* name : {"statements.db", "statements.db-wal"}) {
    if (std::filesystem::exists(from / name)) std::filesystem::copy_file(from / name, to / name);
  }
  for (const auto& entry : std::filesystem::directory_iterator(from / "objects"))
    std::filesystem::copy_file(entry.path(), to / "objects" / entry.path().filename());
}

}  // namespace weir::store::testing
