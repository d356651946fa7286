#include <weir/merge/internal/lister.h>

#include <algorithm>

#include <weir/core/limits.h>
#include <weir/store/statement.h>

namespace weir::merge::internal {

void lister::add(store::row row) {
  auto said = store::decode_statement(row.encoded);
  if (!said) {
    corrupt_ =
        fail(errc::corrupt, "the stored statement " + row.id.text() + " cannot be read: " + said.error().message);
    return;
  }
  const std::size_t named = 1 + said->deps.size();
  const bool same_bundle = !open_.groups.empty() && open_.groups.back().bundle == row.bundle;
  if (statements_ == limits::fetch_statements_max || objects_ + named > limits::fetch_objects_max ||
      statement_bytes_ + row.encoded.size() > limits::fetch_statement_bytes_max ||
      (!same_bundle && open_.groups.size() == limits::fetch_bundles_max))
    close();

  if (open_.groups.empty() || open_.groups.back().bundle != row.bundle) open_.groups.push_back({row.bundle, {}, {}});
  listing::group& group = open_.groups.back();
  group.statements.push_back(row.id.hash());
  group.objects.push_back(said->object);
  group.objects.insert(group.objects.end(), said->deps.begin(), said->deps.end());
  open_.at = row.counter;
  statements_ += 1;
  statement_bytes_ += row.encoded.size();
  objects_ += named;
}

void lister::close() {
  if (open_.groups.empty()) return;
  for (listing::group& group : open_.groups) {
    std::sort(group.objects.begin(), group.objects.end());
    group.objects.erase(std::unique(group.objects.begin(), group.objects.end()), group.objects.end());
  }
  listing next;
  next.of = open_.of;
  closed_.push_back(std::exchange(open_, std::move(next)));
  statements_ = statement_bytes_ = objects_ = 0;
}

}  // namespace weir::merge::internal
