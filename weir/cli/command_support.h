#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <weir/cli/commands.h>
#include <weir/core/result.h>
#include <weir/node/api.h>

namespace weir::cli {

/// Tells a failure on standard error, and on standard output too for a program, and gives its exit status.
int tell(const settings& common, const error& why);

/// Writes to standard output. The process ends where that fails: silently when nobody reads any more (`weir query … | head`),
/// else with an error.
void write_out(std::string_view octets);
/// The same with a line's end.
void print(const std::string& line);

/// Whether a command may begin with an empty data directory.
enum class directory : std::uint8_t { must_exist, may_be_new };

/// The node that runs on the data directory, or else the directory itself, opened in this process.
result<std::unique_ptr<node::api>> open(const settings& common, directory how);

}  // namespace weir::cli
