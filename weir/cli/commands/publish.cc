#include <atomic>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/cli/command_support.h>
#include <weir/cli/exit_status.h>
#include <weir/cli/progress_line.h>
#include <weir/cli/text.h>
#include <weir/flow/cancel_on.h>
#include <weir/flow/chunks.h>
#include <weir/flow/for_each.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/worker.h>

namespace weir::cli {
namespace {

struct totals {
  std::uint64_t records = 0, statements = 0, objects = 0, said_before = 0, bytes = 0;
};

// Octets of all files together; 0 if one of them cannot tell, as standard input.
std::uint64_t octets_of(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& file : files) {
    std::error_code unknown;
    const auto size = file == "-" ? 0 : std::filesystem::file_size(file, unknown);
    if (unknown || size == 0) return 0;
    sum += size;
  }
  return sum;
}

void print_totals(const settings& common, const publish_options& how, const totals& done, double seconds) {
  if (common.json) {
    print(nlohmann::ordered_json{{"statements", done.statements},
                                 {"objects", done.objects},
                                 {"said_before", done.said_before},
                                 {"bytes", done.bytes},
                                 {"seconds", seconds}}
              .dump());
    return;
  }
  std::string line = fmt::format("published {} and {} in {}: {}, {} ({})", counted(done.statements, "statement"),
                                 counted(done.objects, "object"), how.name_space, as_size(done.bytes),
                                 as_duration(seconds), as_rate(done.statements, seconds));
  if (done.said_before > 0)
    line += fmt::format("; {} left out, published before (--again publishes them anew)",
                        counted(done.said_before, "record"));
  print(line);
}

}  // namespace

int publish(const settings& common, const publish_options& how, interrupt& signals) {
  if (auto named = store::check_namespace(how.name_space); !named) return tell(common, named.error());
  auto api = open(common, directory::may_be_new);
  if (!api) return tell(common, api.error());

  auto import = how.import;
  import.taken = std::make_shared<std::atomic<std::uint64_t>>(0);
  const std::uint64_t octets = octets_of(how.files);
  totals done;
  progress_line progress("publishing", "records", clock::system());
  std::optional<error> failure;

  flow::worker parser("weir-parse");
  for (const std::string& file : how.files) {
    auto records = store::import_file(file, import);
    if (!records) {
      failure = std::move(records).error();
      break;
    }
    // The next publication is read while the node writes the one before.
    auto publications = *std::move(records) |
                        flow::chunks(limits::batch_statements_max, limits::publication_bytes_max,
                                     [](const store::record& record) { return record.object.size(); }) |
                        flow::observe_on(parser, {.capacity = 1}) | flow::cancel_on(signals.token(), 1);
    auto ended = flow::for_each(std::move(publications), [&](std::vector<store::record>&& some) -> result<void> {
      const std::size_t records_sent = some.size();
      WEIR_TRY(node::published told, (*api)->publish({how.name_space, std::move(some), how.again}));
      if (how.ids)
        for (const digest& id : told.ids) print(cid(codec::dag_cbor, id).text());
      done.records += records_sent;
      done.statements += told.wrote.statements;
      done.objects += told.wrote.objects;
      done.bytes += told.wrote.bytes;
      done.said_before += told.said_before;
      progress.show(octets == 0 ? -1.0 : static_cast<double>(import.taken->load()) / static_cast<double>(octets),
                    done.records);
      return {};
    });
    if (!ended) {
      failure = std::move(ended).error();
      break;
    }
  }

  if (!failure || common.json || done.records > 0) print_totals(common, how, done, progress.seconds());
  if (!failure) return exit_ok;
  const int status = tell(common, *failure);
  if (done.records > 0)
    std::fputs("weir: what is counted above is stored; the same command goes on from there\n", stderr);
  return status;
}

}  // namespace weir::cli
