#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <weir/cli/interrupt.h>
#include <weir/core/limits.h>
#include <weir/store/import/import.h>

namespace weir::cli {

/// What every command knows.
struct settings {
  std::filesystem::path data;  ///< the data directory
  bool json = false;           ///< print for programs: JSON on standard output, one document a line
};

struct publish_options {
  std::string name_space;
  std::vector<std::string> files;  ///< "-": standard input
  store::import_options import;
  bool again = false;
  bool ids = false;
};

struct merge_options {
  std::string peer;
  std::string query;
  std::uint64_t lanes = limits::lanes;
};

struct query_options {
  std::string query;
  std::string peer;  ///< ask this peer instead of the data directory
};

struct get_options {
  std::string id;
  std::string peer;
};

struct node_options {
  std::string listen;
};

// The commands. Each prints what it did, or why it could not, and gives the process's exit status.
int run_node(const settings& common, const node_options& how, interrupt& signals);
int publish(const settings& common, const publish_options& how, interrupt& signals);
int merge(const settings& common, const merge_options& how, interrupt& signals);
int query(const settings& common, const query_options& how, interrupt& signals);
int get(const settings& common, const get_options& how);
int status(const settings& common);
int id(const settings& common, const std::string& peer);
int check(const settings& common);

}  // namespace weir::cli
