#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <weir/core/file.h>
#include <weir/core/internal/posix.h>

namespace weir {

// buffer_[begin_, end_) is what has been read and not yet taken. The buffer begins at one read's size and doubles up to
// the longest line with its "\r\n", so that memory follows the lines that are really there.

namespace {

constexpr std::size_t first_buffer_bytes = 64 * 1024;

}  // namespace

result<line_reader> line_reader::open(const std::string& path, std::size_t line_bytes_max) {
  line_reader made;
  if (path == "-") {
    made.descriptor_ = STDIN_FILENO;
    made.path_ = "standard input";
  } else {
    WEIR_TRY(auto opened, internal::open_file(path, O_RDONLY, 0, "open"));
    made.descriptor_ = opened.release();
    made.path_ = path;
  }
  made.line_bytes_max_ = line_bytes_max;
  return made;
}

line_reader::line_reader(line_reader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      begin_(std::exchange(other.begin_, 0)),
      end_(std::exchange(other.end_, 0)),
      line_bytes_max_(other.line_bytes_max_),
      line_number_(other.line_number_),
      offset_(other.offset_),
      at_end_(std::exchange(other.at_end_, true)) {}

line_reader& line_reader::operator=(line_reader&& other) noexcept {
  // The old descriptor closes with the temporary.
  line_reader taken(std::move(other));
  std::swap(descriptor_, taken.descriptor_);
  std::swap(path_, taken.path_);
  std::swap(buffer_, taken.buffer_);
  std::swap(begin_, taken.begin_);
  std::swap(end_, taken.end_);
  std::swap(line_bytes_max_, taken.line_bytes_max_);
  std::swap(line_number_, taken.line_number_);
  std::swap(offset_, taken.offset_);
  std::swap(at_end_, taken.at_end_);
  return *this;
}

line_reader::~line_reader() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

result<bool> line_reader::next(std::string_view& line) {
  std::size_t searched = 0;  // Octets after begin_ that hold no newline.
  while (true) {
    const char* begin = buffer_.data() + begin_;
    const std::size_t held = end_ - begin_;
    const void* newline = held > searched ? std::memchr(begin + searched, '\n', held - searched) : nullptr;
    if (newline != nullptr || (at_end_ && held > 0)) {
      std::size_t taken = held;
      std::size_t length = held;
      if (newline != nullptr) {
        length = static_cast<std::size_t>(static_cast<const char*>(newline) - begin);
        taken = length + 1;
        if (length > 0 && begin[length - 1] == '\r') --length;
      }
      if (length <= line_bytes_max_) {
        line = {begin, length};
        begin_ += taken;
        offset_ += taken;
        ++line_number_;
        return true;
      }
    }
    if (newline == nullptr && held == 0 && at_end_) return false;
    if (newline != nullptr || held >= line_bytes_max_ + 2 || at_end_) {
      return fail(errc::too_large,
                  fmt::format("line {} of {} is longer than {} octets", line_number_ + 1, path_, line_bytes_max_));
    }
    searched = held;
    if (const auto read = fill(); !read) return read.error();
  }
}

// Makes room after the held octets and reads once.
result<void> line_reader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    const std::size_t enough = std::max(line_bytes_max_ + 2, first_buffer_bytes);
    buffer_.resize(std::min(enough, std::max(first_buffer_bytes, buffer_.size() * 2)));
  }
  const auto fault = internal::fault_before(file_step::read, path_, buffer_.size() - end_);
  if (fault.number != 0) return internal::file_error("read", path_, fault.number);
  const ssize_t got =
      internal::retried([&] { return ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_); });
  if (got < 0) return internal::file_error("read", path_, errno);
  if (got == 0) at_end_ = true;
  end_ += static_cast<std::size_t>(got);
  return {};
}

}  // namespace weir
