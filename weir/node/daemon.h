#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <weir/core/result.h>
#include <weir/net/endpoint.h>

namespace weir::node {

struct daemon_options {
  std::filesystem::path directory;
  net::endpoint listen;                         ///< for peers; a loopback address
  std::function<void(const std::string&)> log;  ///< a line for the operator; from any thread
};

/// A node: an engine that peers reach over TCP and the owner's commands over DIR/control.sock. While it runs,
/// DIR/node.json says {"pid", "listen"} for programs.
///   Owns  its directory, sockets and threads; destruction stops them in order: no new requests, running merges stopped
///         after their current write, then the store.
class daemon {
 public:
  ///   Errors  locked, address_in_use, permission, and unsupported for an address that others could reach: this version
  ///           has no TLS and no grants, so it serves only this machine.
  static result<std::unique_ptr<daemon>> start(daemon_options how);
  virtual ~daemon() = default;

  [[nodiscard]] virtual net::endpoint address() const = 0;
  [[nodiscard]] virtual std::string publisher() const = 0;
};

}  // namespace weir::node
