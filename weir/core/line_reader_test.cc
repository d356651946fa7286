#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <weir/core/file.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/core/thread.h>

namespace weir {
namespace {

using testing::temporary_directory;

struct reading {
  std::vector<std::string> lines;
  std::string error;
};

reading read_all(line_reader& from) {
  reading all;
  std::string_view line;
  while (true) {
    const auto more = from.next(line);
    if (!more) all.error = more.error().message;
    if (!more || !*more) return all;
    all.lines.emplace_back(line);
  }
}

reading read_text(std::string_view text, std::size_t line_bytes_max = 1000) {
  const temporary_directory directory;
  EXPECT_TRUE(replace_file(directory / "t", as_bytes(text)));
  auto from = line_reader::open((directory / "t").string(), line_bytes_max);
  EXPECT_TRUE(from);
  return read_all(*from);
}

using lines = std::vector<std::string>;

TEST(line_reader, gives_lines_without_their_ends) {
  EXPECT_EQ(read_text("").lines, lines{});
  EXPECT_EQ(read_text("one").lines, lines{"one"});
  EXPECT_EQ(read_text("one\n").lines, lines{"one"});
  EXPECT_EQ(read_text("\n").lines, lines{""});
  EXPECT_EQ(read_text("one\n\ntwo\n").lines, (lines{"one", "", "two"}));
  EXPECT_EQ(read_text("one\r\n\r\ntwo\r\n").lines, (lines{"one", "", "two"}));
}

TEST(line_reader, keeps_every_other_octet) {
  const std::string nul("a\0b\n", 4);
  EXPECT_EQ(read_text(nul).lines, lines{std::string("a\0b", 3)});
  EXPECT_EQ(read_text("a\rb\r\r\n\xff\n").lines, (lines{"a\rb\r", "\xff"}));
  EXPECT_EQ(read_text("cut\r").lines, lines{"cut\r"}) << "no line end follows";
}

TEST(line_reader, counts_lines_and_octets) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "t", as_bytes("ab\r\n\nlast")));
  const std::string path = (directory / "t").string();
  auto from = line_reader::open(path, 100);
  EXPECT_EQ(from->path(), path);
  EXPECT_EQ(from->line_number(), 0u);
  std::string_view line;
  const std::pair<std::uint64_t, std::uint64_t> expected[] = {{1, 4}, {2, 5}, {3, 9}};
  for (const auto& [number, offset] : expected) {
    ASSERT_TRUE(*from->next(line));
    EXPECT_EQ(from->line_number(), number);
    EXPECT_EQ(from->offset(), offset);
  }
  EXPECT_FALSE(*from->next(line));
  EXPECT_FALSE(*from->next(line));
  EXPECT_EQ(from->line_number(), 3u);
}

TEST(line_reader, the_limit_is_on_the_line_without_its_end) {
  const std::string five(5, 'x');
  for (const std::string end : {"\n", "\r\n", ""}) {
    EXPECT_EQ(read_text(five + end, 5).lines, lines{five});
    const auto over = read_text("ok\n" + five + "x" + end + "\nnext\n", 5);
    EXPECT_EQ(over.lines, lines{"ok"});
    EXPECT_NE(over.error.find("line 2 of "), std::string::npos) << over.error;
    EXPECT_NE(over.error.find("longer than 5 octets"), std::string::npos);
  }
}

// The first read ends between the '\r' and the '\n': one octet more than the limit is held, and the line is good.
TEST(line_reader, the_longest_line_may_have_its_end_cut_in_two_by_a_read) {
  const std::string longest(64 * 1024 - 1, 'x');
  EXPECT_EQ(read_text(longest + "\r\n", longest.size()).lines, lines{longest});
  EXPECT_FALSE(read_text(longest + "x\r\n", longest.size()).error.empty());
}

TEST(line_reader, a_line_that_never_ends_is_refused_in_bounded_memory) {
  auto from = line_reader::open("/dev/zero", 100'000);
  ASSERT_TRUE(from);
  std::string_view line;
  const auto read = from->next(line);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::too_large);
  EXPECT_EQ(from->next(line).error().code, errc::too_large) << "and stays refused";
}

TEST(line_reader, says_what_cannot_be_opened_or_read) {
  const temporary_directory directory;
  EXPECT_EQ(line_reader::open((directory / "none").string(), 10).error().code, errc::not_found);
  auto from = line_reader::open(directory.path().string(), 10);
  ASSERT_TRUE(from);
  std::string_view line;
  EXPECT_EQ(from->next(line).error().code, errc::io);
}

TEST(line_reader, a_dash_is_standard_input_which_stays_open) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "t", as_bytes("from stdin\n")));
  const int saved = ::dup(STDIN_FILENO);
  const int other = ::open((directory / "t").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup2(other, STDIN_FILENO), STDIN_FILENO);
  ::close(other);
  {
    auto from = line_reader::open("-", 100);
    EXPECT_EQ(from->path(), "standard input");
    EXPECT_EQ(read_all(*from).lines, lines{"from stdin"});
  }
  EXPECT_GE(::fcntl(STDIN_FILENO, F_GETFD), 0);
  if (saved >= 0) {
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
}

TEST(line_reader, goes_on_where_it_was_after_a_move) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "t", as_bytes("one\ntwo\nthree\n")));
  auto from = line_reader::open((directory / "t").string(), 100).value();
  std::string_view line;
  ASSERT_TRUE(*from.next(line));
  line_reader moved(std::move(from));
  ASSERT_TRUE(*moved.next(line));
  EXPECT_EQ(line, "two");
  auto assigned = line_reader::open((directory / "t").string(), 100).value();
  assigned = std::move(moved);
  ASSERT_TRUE(*assigned.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_EQ(assigned.line_number(), 3u);
}

// Pieces that arrive one by one must not change the lines.
TEST(line_reader, reads_a_pipe_that_is_written_octet_by_octet) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  lines got;
  {
    const thread writer("writer", [&] {
      for (const char c : std::string("one\r\ntwo\n\nfour")) {
        EXPECT_EQ(::write(ends[1], &c, 1), 1);
      }
      ::close(ends[1]);
    });
    auto from = line_reader::open("/dev/fd/" + std::to_string(ends[0]), 100);
    ASSERT_TRUE(from);
    got = read_all(*from).lines;
  }
  ::close(ends[0]);
  EXPECT_EQ(got, (lines{"one", "two", "", "four"}));
}

// Against a model: split at newlines. Lines long enough to cross the buffer's borders.
RC_GTEST_PROP(line_reader, agrees_with_a_plain_split, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::size_t>>(
      rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 50), rc::gen::inRange<std::size_t>(65'000, 66'000),
                     rc::gen::inRange<std::size_t>(0, 200'000)));
  lines expected;
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    expected.emplace_back(sizes[i], static_cast<char>('a' + i % 26));
    text += expected.back() + (sizes[i] % 3 == 0 ? "\r\n" : "\n");
  }
  const auto read = read_text(text, 200'000);
  RC_ASSERT(read.error.empty());
  RC_ASSERT(read.lines == expected);
}

}  // namespace
}  // namespace weir
