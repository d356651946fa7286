#include <ctime>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <weir/cli/command_support.h>
#include <weir/cli/exit_status.h>
#include <weir/flow/cancel_on.h>
#include <weir/flow/for_each.h>
#include <weir/net/loop.h>
#include <weir/node/messages.h>
#include <weir/node/remote.h>

namespace weir::cli {
namespace {

std::string as_date(std::uint64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  if (::gmtime_r(&time, &utc) == nullptr) return std::to_string(unix_s);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

// For people: the id to go on with, when, where, and about what.
result<std::string> row_text(const store::row& row) {
  WEIR_TRY(store::statement said, store::decode_statement(row.encoded));
  std::string about = said.refs.empty() ? said.object.text() : said.refs.front();
  for (std::size_t i = 1; i < said.refs.size(); ++i) about += ", " + said.refs[i];
  return fmt::format("{}  {}  {}  {}", row.id.text(), as_date(said.timestamp), said.name_space, about);
}

}  // namespace

int query(const settings& common, const query_options& how, interrupt& signals) {
  auto asked = store::query::parse(how.query);
  if (!asked) return tell(common, asked.error());

  // Only one of the two answers; both outlive the rows.
  std::unique_ptr<node::api> api;
  net::loop loop("weir-query");
  std::optional<node::peer> peer;
  flow::any_flow<store::row> rows;
  if (how.peer.empty()) {
    auto opened = open(common, directory::must_exist);
    if (!opened) return tell(common, opened.error());
    api = *std::move(opened);
    rows = api->query(*asked);
  } else {
    auto at = net::endpoint::parse(how.peer);
    if (!at) return tell(common, at.error());
    auto connected = node::peer::connect(loop, *at);
    if (!connected) return tell(common, connected.error());
    peer = *std::move(connected);
    rows = peer->query(*asked);
  }

  auto ended =
      flow::for_each(std::move(rows) | flow::cancel_on(signals.token()), [&](store::row&& row) -> result<void> {
        WEIR_TRY(std::string line, common.json ? node::row_json(row) : row_text(row));
        print(line);
        return {};
      });
  return ended ? exit_ok : tell(common, ended.error());
}

}  // namespace weir::cli
