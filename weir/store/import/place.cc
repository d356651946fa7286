#include <weir/store/import/place.h>

#include <fmt/format.h>

namespace weir::store::internal {

error fault_in(std::string_view file, std::uint64_t line, std::string_view sentence, errc code) {
  return fail(code, fmt::format("{}:{}: {}", file, line, sentence));
}

error fault_in(std::string_view file, std::uint64_t line, std::uint64_t column, std::string_view sentence, errc code) {
  return fail(code, fmt::format("{}:{}:{}: {}", file, line, column, sentence));
}

}  // namespace weir::store::internal
