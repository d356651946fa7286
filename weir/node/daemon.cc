#include <weir/node/daemon.h>

#include <atomic>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <weir/core/file.h>
#include <weir/flow/worker.h>
#include <weir/node/engine.h>
#include <weir/node/internal/handlers.h>
#include <weir/node/internal/merge_jobs.h>
#include <weir/node/remote.h>

namespace weir::node {
namespace {

using net::rsocket::server;
using net::rsocket::setup;

class running final : public daemon {
 public:
  static result<std::unique_ptr<daemon>> start(daemon_options how) {
    if (!how.listen.is_local())
      return fail(
          errc::unsupported,
          fmt::format("cannot listen on {}: others could reach it, and this version has neither TLS nor grants; "
                      "use a loopback address such as 127.0.0.1:9001",
                      how.listen.text()));
    WEIR_TRY(auto control, control_endpoint(how.directory));
    WEIR_TRY(auto engine, engine::open(how.directory));
    auto made = std::unique_ptr<running>(new running(std::move(how), std::move(engine)));
    WEIR_CHECK(made->listen(control));
    return std::unique_ptr<daemon>(std::move(made));
  }

  ~running() override {
    // Programs must not find an address that nobody answers on any more.
    std::error_code gone_already;
    std::filesystem::remove(node_file(), gone_already);
  }

  net::endpoint address() const override { return peers_->address(); }
  std::string publisher() const override { return engine_->publisher().text(); }

 private:
  running(daemon_options how, std::unique_ptr<engine> engine)
      : how_(std::move(how)), engine_(std::move(engine)), merges_(*engine_) {}

  result<void> listen(const net::endpoint& control) {
    server::options options;
    options.log = how_.log;
    WEIR_TRY(peers_, server::listen(
                         loop_, how_.listen,
                         [this](const setup& asked, const std::string&) -> result<net::rsocket::handlers> {
                           return internal::peer_handlers(serve(), asked);
                         },
                         options));
    WEIR_TRY(control_, server::listen(
                           loop_, control,
                           [this](const setup& asked, const std::string&) -> result<net::rsocket::handlers> {
                             return internal::control_handlers(serve(), asked, writer_, merges_, address().text());
                           },
                           options));
    const nlohmann::json about = {{"pid", ::getpid()}, {"listen", address().text()}};
    return replace_file(node_file(), as_bytes(about.dump() + "\n"));
  }

  // Connections take the readers in turn: one that reads much delays only those it shares a thread with.
  internal::served serve() { return {*engine_, readers_[next_reader_++ % std::size(readers_)]}; }

  [[nodiscard]] std::filesystem::path node_file() const { return how_.directory / "node.json"; }

  daemon_options how_;
  std::unique_ptr<engine> engine_;
  // Destroyed from the bottom: first the servers and with them every reply, then the merges, then the threads that
  // replies ran on, at last the engine.
  flow::worker readers_[2]{flow::worker("weir-read-0"), flow::worker("weir-read-1")};
  flow::worker writer_{"weir-write"};
  net::loop loop_{"weir-peers"};
  internal::merge_jobs merges_;
  std::size_t next_reader_ = 0;  // confined to the loop
  std::unique_ptr<server> peers_;
  std::unique_ptr<server> control_;
};

}  // namespace

result<std::unique_ptr<daemon>> daemon::start(daemon_options how) { return running::start(std::move(how)); }

}  // namespace weir::node
