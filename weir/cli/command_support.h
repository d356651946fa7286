#pragma once

#include <memory>
#include <string>

#include <weir/cli/commands.h>
#include <weir/core/result.h>
#include <weir/node/api.h>

namespace weir::cli {

/// Tells a failure on standard error, and on standard output too for a program, and gives its exit status.
int tell(const settings& common, const error& why);

/// Prints one line on standard output. When nobody reads it any more the process ends, as other commands do.
void print(const std::string& line);

/// Whether a command may begin with an empty data directory.
enum class directory : std::uint8_t { must_exist, may_be_new };

/// The node that runs on the data directory, or else the directory itself, opened in this process.
result<std::unique_ptr<node::api>> open(const settings& common, directory how);

}  // namespace weir::cli
