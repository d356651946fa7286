#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <weir/net/loop.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/node/api.h>

namespace weir::node {

/// The control socket of the node that runs on a data directory.
///   Errors  invalid_argument if the directory's path is too long for a socket in it.
result<net::endpoint> control_endpoint(const std::filesystem::path& directory);

/// Asks the node that runs on a data directory, over its control socket.
class remote final : public api {
 public:
  /// Gives nothing if no node runs there.
  ///   Errors  permission if the socket belongs to somebody else, timed_out if the node does not answer
  static result<std::unique_ptr<remote>> connect(const std::filesystem::path& directory);

  result<status> get_status() override;
  result<published> publish(publication what) override;
  flow::any_flow<store::row> query(const store::query& asked) override;
  result<bytes> get(const cid& id) override;
  merge::outcome merge(const net::endpoint& peer, const store::query& asked, const merge::options& how) override;
  result<store::damage> check() override;

 private:
  remote(std::unique_ptr<net::loop> loop, net::rsocket::requester node);
  result<bytes> ask(std::string_view route, bytes request);

  std::unique_ptr<net::loop> loop_;
  net::rsocket::requester node_;
};

/// What a peer, reached over its public port, answers to everybody.
class peer {
 public:
  static result<peer> connect(net::loop& on, const net::endpoint& to);
  [[nodiscard]] result<identity> id() const;
  [[nodiscard]] flow::any_flow<store::row> query(const store::query& asked) const;
  [[nodiscard]] result<bytes> get(const cid& id) const;

 private:
  explicit peer(net::rsocket::requester to) : to_(std::move(to)) {}
  net::rsocket::requester to_;
};

}  // namespace weir::node
