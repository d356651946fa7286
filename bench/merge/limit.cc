// The least that a durable merge could take: as many octets through a loopback connection from one process to another,
// written to a file there and synced after every batch. No format, no hash, no signature, no index.
//
//   weir_bench_merge_limit FILE OCTETS BATCH_OCTETS   prints the seconds it took

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t io_octets = 256 * 1024;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

void write_all(int to, const char* from, std::size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(to, from, count);
    if (n <= 0) die("write");
    from += n;
    count -= static_cast<std::size_t>(n);
  }
}

[[noreturn]] void send(const sockaddr_in& to, std::size_t octets) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) die("connect");
  std::vector<char> buffer(io_octets);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<char>(i * 31);
  while (octets > 0) {
    const std::size_t n = std::min(octets, buffer.size());
    write_all(connection, buffer.data(), n);
    octets -= n;
  }
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: weir_bench_merge_limit FILE OCTETS BATCH_OCTETS\n", stderr);
    return 2;
  }
  const std::size_t octets = std::strtoull(argv[2], nullptr, 10), batch = std::strtoull(argv[3], nullptr, 10);

  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    die("listen");
  const int file = ::open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) die(argv[1]);

  const auto began = std::chrono::steady_clock::now();
  const pid_t sender = ::fork();
  if (sender < 0) die("fork");
  if (sender == 0) send(address, octets);

  const int connection = ::accept(listener, nullptr, nullptr);
  std::vector<char> buffer(io_octets);
  std::size_t received = 0, unsynced = 0;
  for (;;) {
    const ssize_t n = ::read(connection, buffer.data(), buffer.size());
    if (n < 0) die("read");
    if (n == 0) break;
    write_all(file, buffer.data(), static_cast<std::size_t>(n));
    received += static_cast<std::size_t>(n);
    unsynced += static_cast<std::size_t>(n);
    if (unsynced >= batch) {
      if (::fdatasync(file) != 0) die("fdatasync");
      unsynced = 0;
    }
  }
  if (::fdatasync(file) != 0) die("fdatasync");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  int status = 0;
  ::waitpid(sender, &status, 0);
  if (status != 0 || received != octets) {
    std::fprintf(stderr, "received %zu of %zu octets\n", received, octets);
    return 1;
  }
  std::printf("%.6f\n", took.count());
}
