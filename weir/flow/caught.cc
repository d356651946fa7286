#include <weir/flow/caught.h>

#include <exception>

namespace weir::flow {

error caught() noexcept {
  error why;
  why.code = errc::threw;
  try {
    throw;
  } catch (const std::exception& thrown) {
    try {
      why.message = thrown.what();
    } catch (...) {
      // No memory for the text: the code says what kind of failure it is.
    }
  } catch (...) {
    try {
      why.message = "an exception that is no std::exception";
    } catch (...) {
      // As above.
    }
  }
  return why;
}

}  // namespace weir::flow
