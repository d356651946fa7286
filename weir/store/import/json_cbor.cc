#include <weir/store/import/json_cbor.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>

namespace weir::store::internal {

namespace {

// Reads a text for the JSON parser and tells how far it has come: its events do not say where they are.
class counted_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counted_iterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
  reference operator*() const noexcept { return *at_; }
  counted_iterator& operator++() noexcept {
    ++at_;
    ++*taken_;
    return *this;
  }
  counted_iterator operator++(int) noexcept {
    counted_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counted_iterator& a, const counted_iterator& b) noexcept { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* taken_;
};

class cbor_builder {
 public:
  cbor_builder(const std::vector<std::string_view>& wanted, const std::size_t& taken, json_as_cbor& out,
               json_fault& fault)
      : wanted_(wanted), taken_(taken), out_(out), fault_(fault) {}

  // --- The events of the parser. False stops it. ---

  bool null() {
    return value([](cbor::writer& w) { w.null(); });
  }
  bool boolean(bool is) {
    return value([&](cbor::writer& w) { w.boolean(is); });
  }
  bool number_integer(std::int64_t number) {
    return value([&](cbor::writer& w) { w.integer(number); });
  }
  bool number_unsigned(std::uint64_t number) {
    return value([&](cbor::writer& w) { w.unsigned_integer(number); });
  }
  bool number_float(double number, const std::string& spelled) {
    // A whole number comes here when no integer of 64 bits holds it.
    if (spelled.find_first_of(".eE") == std::string::npos)
      return broken_at(taken_ - 1,  // the parser has looked at the octet behind the number
                       fmt::format("{} does not fit into 64 bits; write it as a text", spelled));
    return value([&](cbor::writer& w) { w.floating(number); });
  }
  bool string(std::string& text) {
    return value([&](cbor::writer& w) { w.text(text); });
  }
  bool binary(bytes&) { return broken("JSON has no octets"); }

  bool start_object(std::size_t) { return open(true); }
  bool start_array(std::size_t) { return open(false); }

  bool key(std::string& name) {
    container& inside = open_[depth_ - 1];
    inside.members.push_back({std::move(name), inside.ends.size(), taken_});
    return true;
  }

  bool end_array() {
    const container& done = open_[--depth_];
    return value([&](cbor::writer& w) {
      w.array(done.ends.size());
      for (std::size_t i = 0; i < done.ends.size(); ++i) w.encoded(item(done, i));
    });
  }

  bool end_object() {
    container& done = open_[--depth_];
    if (!check_members(done)) return false;
    if (const auto slash = std::ranges::find(done.members, "/", &member::key); slash != done.members.end())
      return link(done, *slash);
    if (depth_ == 0) take_wanted(done);
    return value([&](cbor::writer& w) {
      w.map(done.members.size());
      for (const member& m : done.members) w.key(m.key).encoded(item(done, m.index));
    });
  }

  template <class Failure>
  bool parse_error(std::size_t, const std::string&, const Failure& what) {
    // The parser's sentence begins with its own name and the place.
    std::string_view sentence = what.what();
    if (const std::size_t at = sentence.find("] "); at != std::string_view::npos) sentence.remove_prefix(at + 2);
    if (sentence.starts_with("parse error at")) {
      if (const std::size_t at = sentence.find(": "); at != std::string_view::npos) sentence.remove_prefix(at + 2);
    }
    return broken(fmt::format("this is not JSON: {}", sentence));
  }

 private:
  struct member {
    std::string key;
    std::size_t index;   // of its value among the items
    std::size_t column;  // where its key ends
  };
  struct container {
    bool is_object = false;
    bytes items;                      // encoded, one after the other
    std::vector<std::uint32_t> ends;  // of each item, in octets of `items`
    std::vector<member> members;      // of an object
  };

  bool broken(std::string sentence, errc code = errc::malformed) {
    return broken_at(taken_, std::move(sentence), code);
  }
  bool broken_at(std::size_t column, std::string sentence, errc code = errc::malformed) {
    fault_ = {std::max<std::size_t>(column, 1), std::move(sentence), code};
    return false;
  }

  bool open(bool is_object) {
    if (depth_ == 0 && !is_object) return broken("an array; expected an object");
    if (depth_ == limits::cbor_depth_max)
      return broken(fmt::format("arrays and objects go more than {} deep", limits::cbor_depth_max), errc::too_large);
    if (open_.size() == depth_) open_.emplace_back();
    container& fresh = open_[depth_++];
    fresh.is_object = is_object;
    fresh.items.clear();
    fresh.ends.clear();
    fresh.members.clear();
    return true;
  }

  // Adds an item, written by `write`, to what is open, or makes it the result.
  template <class Write>
  bool value(Write write) {
    if (depth_ == 0) {
      if (open_.empty()) return broken("a single value; expected an object");
      cbor::writer w(out_.object);
      write(w);
      return true;
    }
    container& inside = open_[depth_ - 1];
    cbor::writer w(inside.items);
    write(w);
    inside.ends.push_back(static_cast<std::uint32_t>(inside.items.size()));
    return true;
  }

  static bytes_view item(const container& of, std::size_t index) {
    const std::size_t begin = index == 0 ? 0 : of.ends[index - 1];
    return bytes_view(of.items).subspan(begin, of.ends[index] - begin);
  }

  // Puts the members in canonical order and refuses a repetition, at the second of the two.
  bool check_members(container& of) {
    std::ranges::sort(of.members, [](const member& a, const member& b) {
      if (a.key.size() != b.key.size()) return a.key.size() < b.key.size();
      const int order = a.key.compare(b.key);
      return order != 0 ? order < 0 : a.index < b.index;
    });
    const auto twice = std::ranges::adjacent_find(of.members, {}, &member::key);
    if (twice == of.members.end()) return true;
    return broken_at(std::next(twice)->column, fmt::format("the key \"{}\" stands twice in one object", twice->key));
  }

  bool link(const container& of, const member& slash) {
    if (depth_ == 0) return broken("a link; expected an object");
    cbor::reader in(item(of, slash.index));
    const auto text = in.text();
    if (of.members.size() != 1 || !text)
      return broken_at(slash.column, "the key \"/\" is kept for links; expected {\"/\": \"b…\"} and nothing else");
    const auto target = cid::parse(*text);
    if (!target) return broken_at(slash.column, fmt::format("this is not a link: {}", target.error().message));
    if (std::ranges::find(out_.links, *target) == out_.links.end()) {
      if (out_.links.size() == limits::refs_max)
        return broken(fmt::format("more than {} different links", limits::refs_max), errc::too_large);
      out_.links.push_back(*target);
    }
    return value([&](cbor::writer& w) { w.link(*target); });
  }

  void take_wanted(const container& of) {
    for (const member& m : of.members) {
      if (std::ranges::find(wanted_, m.key) != wanted_.end())
        out_.members.push_back({m.key, to_bytes(item(of, m.index))});
    }
  }

  const std::vector<std::string_view>& wanted_;
  const std::size_t& taken_;
  json_as_cbor& out_;
  json_fault& fault_;
  std::vector<container> open_;  // the first depth_ are; the others keep their buffers
  std::size_t depth_ = 0;
};

}  // namespace

bool json_to_cbor(std::string_view text, const std::vector<std::string_view>& wanted, json_as_cbor& out,
                  json_fault& fault) {
  std::size_t taken = 0;
  cbor_builder builder(wanted, taken, out, fault);
  const counted_iterator begin(text.data(), &taken), end(text.data() + text.size(), &taken);
  return nlohmann::json::sax_parse(begin, end, &builder);
}

}  // namespace weir::store::internal
