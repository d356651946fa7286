#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <weir/cli/command_support.h>
#include <weir/cli/exit_status.h>
#include <weir/node/daemon.h>

namespace weir::cli {

int run_node(const settings& common, const node_options& how, interrupt& signals) {
  auto listen = net::endpoint::parse(how.listen);
  if (!listen) return tell(common, listen.error());
  auto node = node::daemon::start(
      {common.data, *listen, [](const std::string& line) { std::fprintf(stderr, "weir: %s\n", line.c_str()); }});
  if (!node) return tell(common, node.error());

  const std::string address = (*node)->address().text();
  if (common.json)
    print(nlohmann::ordered_json{{"listen", address}, {"publisher", (*node)->publisher()}, {"pid", ::getpid()}}.dump());
  else
    print(fmt::format("node {} on {}: peers at {}, stop with Ctrl-C", (*node)->publisher(), common.data.string(),
                      address));
  signals.wait();
  if (!common.json) print("stopping");
  return exit_ok;
}

}  // namespace weir::cli
