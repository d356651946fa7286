// The command `weir`: reads the command line and hands over to one of the commands.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include <weir/cli/commands.h>
#include <weir/cli/exit_status.h>
#include <weir/core/standard_descriptors.h>
#include <weir/node/api.h>

namespace {

// Empty if nothing says where: a command that needs it asks for it.
std::string default_data() {
  if (const char* named = std::getenv("WEIR_DATA"); named != nullptr && *named != 0) return named;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) return std::string(home) + "/.weir";
  return {};
}

bool is_command(const CLI::App& app, const std::string& word) {
  const auto known = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(known.begin(), known.end(), [&](const CLI::App* each) { return each->get_name() == word; });
}

int tell_usage(const CLI::App& app, const CLI::ParseError& wrong, int argc, char** argv) {
  if (wrong.get_exit_code() == 0) return app.exit(wrong);  // --help, --version
  std::string what = wrong.what();
  if (argc > 1 && argv[1][0] != '-' && !is_command(app, argv[1]))
    what = std::string("there is no command '") + argv[1] + "'";
  else if (dynamic_cast<const CLI::ExtrasError*>(&wrong) != nullptr)
    what += "; a query is one argument: put it in quotes";
  std::fprintf(stderr, "weir: %s\nweir: --help, also after a command, says what there is\n", what.c_str());
  return weir::cli::exit_usage;
}

int run(int argc, char** argv) {
  using namespace weir;
  cli::interrupt signals;

  CLI::App app{"Weir merges streams of signed statements between machines.", "weir"};
  app.set_version_flag("--version", std::string(node::version()));
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Queries: SELECT * FROM NAMESPACE[.*] [WHERE …] [LIMIT n]. Exit statuses: 0 done, 2 usage, 3 damage found,\n"
      "10 + the error's code otherwise (docs/command.md).");

  cli::settings common;
  common.data = default_data();
  app.add_option("-d,--data", common.data, "Data directory (default: $WEIR_DATA, else ~/.weir)");
  app.add_flag("--json", common.json, "Print JSON, one document a line");

  std::function<int()> chosen;

  auto* node = app.add_subcommand("node", "The daemon");
  node->require_subcommand(1);
  cli::node_options node_how;
  node_how.listen = "127.0.0.1:9001";
  auto* node_run = node->add_subcommand("run", "Serve the data directory to peers until stopped");
  node_run->add_option("-l,--listen", node_how.listen, "Address for peers, HOST:PORT; port 0 takes a free one")
      ->capture_default_str();
  node_run->callback([&] { chosen = [&] { return cli::run_node(common, node_how, signals); }; });

  cli::publish_options publish_how;
  auto* publish = app.add_subcommand("publish", "Sign and store the records of files");
  publish->add_option("namespace", publish_how.name_space, "Dotted namespace: images.example")->required();
  publish->add_option("files", publish_how.files, "JSON lines or Debian Packages files; - is standard input")
      ->required();
  const std::map<std::string, store::import_format> formats = {{"auto", store::import_format::automatic},
                                                               {"jsonl", store::import_format::json_lines},
                                                               {"deb822", store::import_format::deb822}};
  std::string format = "auto";
  publish->add_option("--format", format, "How to read the files: auto, jsonl or deb822")
      ->check(CLI::IsMember({"auto", "jsonl", "deb822"}))
      ->capture_default_str();
  publish->add_option("--ref", publish_how.import.ref_field, "JSON lines: the member that identifies the record");
  publish->add_option("--prefix", publish_how.import.ref_prefix, "JSON lines: put before that identifier: dpla:");
  publish->add_option("--tags", publish_how.import.tag_field, "JSON lines: the member with the tags");
  publish->add_flag("--again", publish_how.again, "Publish also what this node has published before");
  publish->add_flag("--ids", publish_how.ids, "Print each new statement's id once it is durable");
  publish->callback([&] {
    publish_how.import.format = formats.at(format);
    chosen = [&] { return cli::publish(common, publish_how, signals); };
  });

  cli::merge_options merge_how;
  auto* merge = app.add_subcommand("merge", "Bring what a query selects at a peer into the data directory");
  merge->add_option("peer", merge_how.peer, "HOST:PORT of a node")->required();
  merge->add_option("query", merge_how.query, "'SELECT * FROM images.*'")->required();
  merge->add_option("--lanes", merge_how.lanes, "Fetches in flight at once")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{limits::lanes_max}))
      ->capture_default_str();
  merge->callback([&] { chosen = [&] { return cli::merge(common, merge_how, signals); }; });

  cli::query_options query_how;
  auto* query = app.add_subcommand("query", "Print the statements that a query selects");
  query->add_option("query", query_how.query, "'SELECT * FROM images.* WHERE ref = dpla:1 LIMIT 10'")->required();
  query->add_option("--peer", query_how.peer, "Ask this node, HOST:PORT, instead of the data directory");
  query->callback([&] { chosen = [&] { return cli::query(common, query_how, signals); }; });

  cli::get_options get_how;
  auto* get = app.add_subcommand("get", "Print the octets of an object, a statement or a bundle");
  get->add_option("id", get_how.id, "CID: bafk…")->required();
  get->add_option("--peer", get_how.peer, "Ask this node, HOST:PORT, instead of the data directory");
  get->callback([&] { chosen = [&] { return cli::get(common, get_how); }; });

  auto* status = app.add_subcommand("status", "Print what the data directory holds");
  status->callback([&] { chosen = [&] { return cli::status(common); }; });

  std::string id_peer;
  auto* id = app.add_subcommand("id", "Print the publisher id of the data directory's node");
  id->add_option("--peer", id_peer, "Ask this node, HOST:PORT, instead");
  id->callback([&] { chosen = [&] { return cli::id(common, id_peer); }; });

  auto* check = app.add_subcommand("check", "Read everything and recompute every hash, signature and total");
  check->callback([&] { chosen = [&] { return cli::check(common); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    return tell_usage(app, wrong, argc, argv);
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  weir::occupy_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const std::exception& out_of_something) {
    // What has no answer elsewhere: no memory, no thread.
    std::fprintf(stderr, "weir: cannot go on: %s\n", out_of_something.what());
    return weir::cli::exit_status(weir::errc::internal);
  }
}
