#pragma once

#include <filesystem>
#include <memory>

#include <weir/core/clock.h>
#include <weir/node/api.h>

namespace weir::node {

/// Whether somebody has published or merged into the directory.
bool is_data_directory(const std::filesystem::path& directory);

/// Answers on a data directory in this process: opens its store and its key.
///   Owns     DIR/lock, so one engine a directory; DIR/key, made on first use; a loop for the connections to peers.
class engine final : public api {
 public:
  ///   Errors  locked, permission, corrupt, io: see statement_store::open and key_pair::load_or_create.
  static result<std::unique_ptr<engine>> open(const std::filesystem::path& directory, clock& time = clock::system());
  ~engine() override;

  result<status> get_status() override;
  result<published> publish(publication what) override;
  flow::any_flow<store::row> query(const store::query& asked) override;
  result<bytes> get(const cid& id) override;
  merge::outcome merge(const net::endpoint& peer, const store::query& asked, const merge::options& how) override;
  result<store::damage> check() override;

  [[nodiscard]] const store::statement_store& store() const noexcept { return *store_; }
  [[nodiscard]] const public_key& publisher() const noexcept { return key_.pub(); }
  [[nodiscard]] net::loop& loop() noexcept { return loop_; }

 private:
  engine(std::unique_ptr<store::statement_store> store, key_pair key, clock& time);
  std::unique_ptr<store::statement_store> store_;
  key_pair key_;
  clock& time_;
  net::loop loop_;
};

}  // namespace weir::node
