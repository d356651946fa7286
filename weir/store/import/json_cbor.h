#pragma once

// Turns JSON into DAG-CBOR while it is parsed: one buffer for each open array or object, into which its items are
// written already encoded; at its end an object's members are put in canonical order. No tree is built.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>
#include <weir/core/result.h>

namespace weir::store::internal {

/// What went wrong in a text, and where.
struct json_fault {
  std::size_t column = 0;  ///< in octets, from 1: where what is wrong ends
  std::string sentence;
  errc code = errc::malformed;
};

/// A JSON object as DAG-CBOR.
struct json_as_cbor {
  bytes object;
  std::vector<cid> links;  ///< in the order of the text, without repetition
  /// The members named by `wanted`, copied.
  struct member {
    std::string key;
    bytes value;
  };
  std::vector<member> members;
};

///   wanted  keys of the outermost object whose values are wanted by themselves
/// Gives the object or, if there is a fault, fills `fault` and gives false.
bool json_to_cbor(std::string_view text, const std::vector<std::string_view>& wanted, json_as_cbor& out,
                  json_fault& fault);

}  // namespace weir::store::internal
