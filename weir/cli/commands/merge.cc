#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/cli/command_support.h>
#include <weir/cli/exit_status.h>
#include <weir/cli/progress_line.h>
#include <weir/cli/text.h>
#include <weir/merge/merge.h>

namespace weir::cli {

int merge(const settings& common, const merge_options& how, interrupt& signals) {
  // The query first: a mistake in it should not depend on what runs where.
  auto asked = store::query::parse(how.query);
  if (!asked) return tell(common, asked.error());
  auto peer = net::endpoint::parse(how.peer);
  if (!peer) return tell(common, peer.error());
  auto api = open(common, directory::may_be_new);
  if (!api) return tell(common, api.error());

  progress_line progress("merging", "statements", clock::system());
  merge::options options;
  options.lanes = how.lanes;
  options.stop = signals.token();
  options.on_progress = [&](const merge::progress& so_far) { progress.show(so_far.fraction, so_far.statements); };
  const merge::outcome end = (*api)->merge(*peer, *asked, options);
  const double seconds = progress.seconds();

  if (common.json)
    print(nlohmann::ordered_json{{"listed", end.done.listed},
                                 {"statements", end.done.statements},
                                 {"objects", end.done.objects},
                                 {"bytes", end.done.bytes},
                                 {"seconds", seconds}}
              .dump());
  else if (!end.failure || end.done.listed > 0)
    print(fmt::format("merged {} and {} from {}: {}, {} ({}); {} listed", counted(end.done.statements, "statement"),
                      counted(end.done.objects, "object"), peer->text(), as_size(end.done.bytes), as_duration(seconds),
                      as_rate(end.done.statements, seconds),
                      with_commas(end.done.listed) + (end.done.listed == 1 ? " was" : " were")));
  if (!end.failure) return exit_ok;
  const int status = tell(common, *end.failure);
  if (end.done.listed > 0)
    std::fputs("weir: what is counted above is stored; the same command fetches the rest\n", stderr);
  return status;
}

}  // namespace weir::cli
