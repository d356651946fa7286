#include <weir/cli/command_support.h>

#include <cerrno>
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
  std::fprintf(stderr, "weir: %s\n", why.code == errc::cancelled ? "interrupted" : why.message.c_str());
  if (common.json) {
    const nlohmann::ordered_json told = {{"error", {{"code", to_string(why.code)}, {"message", why.message}}}};
    print(told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return exit_status(why.code);
}

void write_out(std::string_view octets) {
  if (std::fwrite(octets.data(), 1, octets.size(), stdout) == octets.size() && std::fflush(stdout) == 0) return;
  const int number = errno;
  if (number == EPIPE) std::_Exit(exit_unread);
  const error why = system_error("cannot write to standard output", number);
  std::fprintf(stderr, "weir: %s\n", why.message.c_str());
  std::_Exit(exit_status(why.code));
}

void print(const std::string& line) { write_out(line + '\n'); }

result<std::unique_ptr<node::api>> open(const settings& common, directory how) {
  if (common.data.empty())
    return fail(errc::invalid_argument, "which data directory? Name it with --data or $WEIR_DATA; there is no $HOME");
  std::error_code unreadable;
  if (std::filesystem::exists(common.data, unreadable) && !std::filesystem::is_directory(common.data, unreadable))
    return fail(errc::invalid_argument, fmt::format("'{}' is not a directory", common.data.string()));
  if (how == directory::must_exist && !node::is_data_directory(common.data))
    return fail(errc::not_found,
                fmt::format("there is no data in '{}'; publish or merge into it first, or name another "
                            "directory with --data",
                            common.data.string()));
  WEIR_TRY(auto running, node::remote::connect(common.data));
  if (running) return std::unique_ptr<node::api>(std::move(running));
  WEIR_TRY(auto here, node::engine::open(common.data));
  return std::unique_ptr<node::api>(std::move(here));
}

}  // namespace weir::cli
