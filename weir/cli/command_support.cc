#include <weir/cli/command_support.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/cli/exit_status.h>
#include <weir/node/engine.h>
#include <weir/node/remote.h>

namespace weir::cli {

int tell(const settings& common, const error& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "weir: %s\n", why.message.c_str());
  if (common.json) {
    const nlohmann::ordered_json told = {{"error", {{"code", to_string(why.code)}, {"message", why.message}}}};
    print(told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return exit_status(why.code);
}

void print(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fputc('\n', stdout) == EOF ||
      (std::fflush(stdout) != 0))
    std::_Exit(exit_status(errc::io));
}

result<std::unique_ptr<node::api>> open(const settings& common, directory how) {
  std::error_code unreadable;
  if (how == directory::must_exist && !std::filesystem::exists(common.data, unreadable))
    return fail(errc::not_found, fmt::format("there is no data directory '{}'; publish or merge into it first, or name "
                                             "another with --data",
                                             common.data.string()));
  WEIR_TRY(auto running, node::remote::connect(common.data));
  if (running) return std::unique_ptr<node::api>(std::move(running));
  WEIR_TRY(auto here, node::engine::open(common.data));
  return std::unique_ptr<node::api>(std::move(here));
}

}  // namespace weir::cli
