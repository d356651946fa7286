// The commands that look at what is there: get, status, id, check.

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/cli/command_support.h>
#include <weir/cli/exit_status.h>
#include <weir/cli/text.h>
#include <weir/core/hex.h>
#include <weir/net/loop.h>
#include <weir/node/remote.h>

namespace weir::cli {
namespace {

result<bytes> block_of(const settings& common, const get_options& how, const cid& id) {
  if (how.peer.empty()) {
    WEIR_TRY(auto api, open(common, directory::must_exist));
    return api->get(id);
  }
  WEIR_TRY(net::endpoint at, net::endpoint::parse(how.peer));
  net::loop loop("weir-get");
  WEIR_TRY(node::peer peer, node::peer::connect(loop, at));
  return peer.get(id);
}

result<node::identity> identity_of(const settings& common, const std::string& peer) {
  if (peer.empty()) {
    WEIR_TRY(auto api, open(common, directory::may_be_new));
    WEIR_TRY(node::status now, api->get_status());
    return now.who;
  }
  WEIR_TRY(net::endpoint at, net::endpoint::parse(peer));
  net::loop loop("weir-id");
  WEIR_TRY(node::peer connected, node::peer::connect(loop, at));
  return connected.id();
}

}  // namespace

int get(const settings& common, const get_options& how) {
  auto id = cid::parse(how.id);
  if (!id) return tell(common, id.error());
  auto block = block_of(common, how, *id);
  if (!block) return tell(common, block.error());
  // Octets as they are: what is printed hashes to the id that was asked for.
  write_out(as_text(*block));
  return exit_ok;
}

int status(const settings& common) {
  auto api = open(common, directory::must_exist);
  if (!api) return tell(common, api.error());
  auto now = (*api)->get_status();
  if (!now) return tell(common, now.error());
  const store::totals& holds = now->holds;
  if (common.json) {
    print(nlohmann::ordered_json{{"publisher", now->who.publisher.text()},
                                 {"version", now->who.version},
                                 {"running", !now->listen.empty()},
                                 {"listen", now->listen},
                                 {"statements", holds.statements},
                                 {"objects", holds.objects},
                                 {"bundles", holds.bundles},
                                 {"object_bytes", holds.object_bytes},
                                 {"counter", holds.counter},
                                 {"statement_set", to_hex(holds.statement_set)},
                                 {"object_set", to_hex(holds.object_set)}}
              .dump());
    return exit_ok;
  }
  print(fmt::format("publisher      {}", now->who.publisher.text()));
  print(fmt::format("data           {}", common.data.string()));
  print(fmt::format("node           {}", now->listen.empty() ? "not running" : "running, peers at " + now->listen));
  print(fmt::format("statements     {}", with_commas(holds.statements)));
  print(fmt::format("objects        {} ({})", with_commas(holds.objects), as_size(holds.object_bytes)));
  print(fmt::format("bundles        {}", with_commas(holds.bundles)));
  print(fmt::format("statement set  {}", to_hex(holds.statement_set)));
  print(fmt::format("object set     {}", to_hex(holds.object_set)));
  return exit_ok;
}

int id(const settings& common, const std::string& peer) {
  auto who = identity_of(common, peer);
  if (!who) return tell(common, who.error());
  if (common.json)
    print(nlohmann::ordered_json{{"publisher", who->publisher.text()}, {"version", who->version}}.dump());
  else
    print(who->publisher.text());
  return exit_ok;
}

int check(const settings& common) {
  auto api = open(common, directory::must_exist);
  if (!api) return tell(common, api.error());
  auto found = (*api)->check();
  if (!found) return tell(common, found.error());
  if (common.json)
    print(nlohmann::ordered_json{{"whole", found->none()},
                                 {"dangling_objects", found->dangling_objects},
                                 {"corrupt_objects", found->corrupt_objects},
                                 {"corrupt_statements", found->corrupt_statements},
                                 {"unattested", found->unattested},
                                 {"totals_differ", found->totals_differ},
                                 {"first", found->first}}
              .dump());
  else if (found->none())
    print("whole: every hash, signature and reference holds, and the totals agree");
  else
    for (const std::string& line : found->first) print(line);
  return found->none() ? exit_ok : exit_damaged;
}

}  // namespace weir::cli
