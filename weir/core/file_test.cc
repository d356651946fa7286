#include <weir/core/file.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <limits>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/core/file_faults.h>
#include <weir/core/testing/temporary_directory.h>

namespace weir {
namespace {

using testing::temporary_directory;

std::string content_of(const std::filesystem::path& path) {
  return std::string(as_text(read_file(path, 1 << 20).value()));
}

std::size_t entries(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

bool names(const error& e, const std::filesystem::path& path) {
  return e.message.find("'" + path.string() + "'") != std::string::npos;
}

TEST(file, appends_at_the_end_and_reads_anywhere) {
  const temporary_directory directory;
  const auto path = directory / "log";
  auto log = file::open(path, file::mode::append_or_create);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(*log->size(), 0u);
  ASSERT_TRUE(log->append(as_bytes("hello ")));
  std::uint8_t five[5];
  ASSERT_TRUE(log->read_at(0, five));
  EXPECT_EQ(as_text(five), "hello");
  ASSERT_TRUE(log->append(as_bytes("world")));
  EXPECT_TRUE(log->sync());
  EXPECT_EQ(*log->size(), 11u);
  ASSERT_TRUE(log->read_at(6, five));
  EXPECT_EQ(as_text(five), "world");

  auto again = file::open(path, file::mode::append_or_create);
  ASSERT_TRUE(again->append({}));
  ASSERT_TRUE(again->append(as_bytes("!")));
  EXPECT_EQ(content_of(path), "hello world!");
  EXPECT_EQ(again->path(), path);
}

TEST(file, truncation_cuts_and_appending_goes_on_from_there) {
  const temporary_directory directory;
  auto log = file::open(directory / "log", file::mode::create_new);
  ASSERT_TRUE(log->append(as_bytes("0123456789")));
  ASSERT_TRUE(log->truncate(4));
  ASSERT_TRUE(log->append(as_bytes("x")));
  EXPECT_EQ(content_of(directory / "log"), "0123x");
  EXPECT_EQ(log->truncate(std::numeric_limits<std::uint64_t>::max()).error().system, EFBIG);
}

TEST(file, reading_past_the_end_is_corrupt_at_any_offset) {
  const temporary_directory directory;
  auto log = file::open(directory / "log", file::mode::append_or_create);
  ASSERT_TRUE(log->append(as_bytes("12345")));
  std::uint8_t four[4];
  EXPECT_TRUE(log->read_at(1, four));
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t offset : {std::uint64_t{2}, std::uint64_t{5}, std::uint64_t{1000}, largest / 2 - 2,
                                     largest / 2, largest / 2 + 1, largest}) {
    const auto read = log->read_at(offset, four);
    ASSERT_FALSE(read) << offset;
    EXPECT_EQ(read.error().code, errc::corrupt) << offset << read.error().message;
    EXPECT_TRUE(names(read.error(), directory / "log"));
  }
  EXPECT_TRUE(log->read_at(5, {})) << "nothing is always there";
}

TEST(file, opening_says_what_is_wrong_and_with_which_file) {
  const temporary_directory directory;
  const auto missing = file::open(directory / "missing", file::mode::read);
  EXPECT_EQ(missing.error().code, errc::not_found);
  EXPECT_TRUE(names(missing.error(), directory / "missing"));
  ASSERT_TRUE(file::open(directory / "there", file::mode::create_new));
  const auto twice = file::open(directory / "there", file::mode::create_new);
  EXPECT_EQ(twice.error().system, EEXIST);
  auto reader = file::open(directory / "there", file::mode::read);
  EXPECT_EQ(reader->append(as_bytes("x")).error().code, errc::io);
}

TEST(file, is_moved_and_closes_itself) {
  const temporary_directory directory;
  int number = -1;
  {
    auto a = file::open(directory / "a", file::mode::append_or_create).value();
    auto b = file::open(directory / "b", file::mode::append_or_create).value();
    number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(number);
    a = std::move(b);
    ASSERT_TRUE(a.append(as_bytes("to b")));
    const file c(std::move(a));
    EXPECT_EQ(c.path(), directory / "b");
  }
  EXPECT_EQ(content_of(directory / "a"), "");
  EXPECT_EQ(content_of(directory / "b"), "to b");
  const int after = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_LT(after, number) << "both descriptors are free again";
  ::close(after);
}

// A limit on the size of files makes write(2) come short first, and fail only then: the loop must see both.
TEST(file, a_short_write_goes_on_and_its_failure_is_told) {
  const temporary_directory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto log = file::open(directory / "log", file::mode::append_or_create);
    const auto written = log->append(bytes(1500, 'x'));
    ::_exit(!written && written.error().system == EFBIG && *log->size() == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(file, a_really_full_device_is_disk_full) {
  auto full = file::open("/dev/full", file::mode::append_or_create);
  if (!full) GTEST_SKIP() << full.error().message;
  const auto written = full->append(as_bytes("x"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, errc::disk_full);
  EXPECT_EQ(written.error().message, "cannot write '/dev/full': No space left on device");
}

TEST(replace_file, puts_the_new_content_in_place_of_the_old) {
  const temporary_directory directory;
  const auto path = directory / "state";
  ASSERT_TRUE(replace_file(path, as_bytes("old"), 0600));
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  ASSERT_TRUE(replace_file(path, as_bytes("new and longer")));
  EXPECT_EQ(content_of(path), "new and longer");
  EXPECT_EQ(entries(directory.path()), 1u);
}

TEST(read_file, gives_everything_up_to_the_limit) {
  const temporary_directory directory;
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 100'000u}) {
    ASSERT_TRUE(replace_file(directory / "f", bytes(size, 'x')));
    EXPECT_EQ(read_file(directory / "f", size)->size(), size);
    EXPECT_EQ(read_file(directory / "f", size + 1)->size(), size);
    if (size > 0) {
      const auto over = read_file(directory / "f", size - 1);
      ASSERT_FALSE(over);
      EXPECT_EQ(over.error().code, errc::too_large);
    }
  }
  EXPECT_EQ(read_file(directory / "none", 10).error().code, errc::not_found);
  EXPECT_EQ(read_file(directory.path(), 10).error().code, errc::io);
}

TEST(read_file, reads_what_does_not_tell_its_size) {
  const auto status = read_file("/proc/self/status", 100'000);
  ASSERT_TRUE(status);
  EXPECT_TRUE(as_text(*status).starts_with("Name:"));
}

/// Answers with one fault at the n-th step and keeps a list of all it was asked.
class recording_faults final : public file_faults {
 public:
  explicit recording_faults(int n = -1, answer fault = {}) : left_(n), fault_(fault) {}
  answer before(file_step step, const std::filesystem::path& path, std::uint64_t octets) override {
    asked += std::string(to_string(step)) + " " + path.filename().string() + " " + std::to_string(octets) + "\n";
    return left_-- == 0 ? fault_ : answer{};
  }
  std::string asked;

 private:
  int left_;
  answer fault_;
};

TEST(file_faults, are_asked_before_each_step_with_file_and_size) {
  const temporary_directory directory;
  recording_faults faults;
  {
    const scoped_file_faults installed(faults);
    auto log = file::open(directory / "log", file::mode::append_or_create);
    ASSERT_TRUE(log->append(as_bytes("four")));
    std::uint8_t three[3];
    ASSERT_TRUE(log->read_at(0, three));
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(log->truncate(2));
    ASSERT_TRUE(sync_directory(directory.path()));
  }
  EXPECT_EQ(faults.asked, "open log 0\nappend log 4\nread log 3\nsync log 0\ntruncate log 2\nsync_directory " +
                              directory.path().filename().string() + " 0\n");
  const auto asked = faults.asked;
  ASSERT_TRUE(read_file(directory / "log", 10));
  EXPECT_EQ(faults.asked, asked) << "no longer installed";
}

TEST(file_faults, a_torn_append_leaves_as_much_as_the_fault_says) {
  const temporary_directory directory;
  auto log = file::open(directory / "log", file::mode::append_or_create);
  ASSERT_TRUE(log->append(as_bytes("whole ")));
  {
    recording_faults faults(0, {ENOSPC, 3});
    const scoped_file_faults installed(faults);
    const auto torn = log->append(as_bytes("batch"));
    ASSERT_FALSE(torn);
    EXPECT_EQ(torn.error().code, errc::disk_full);
  }
  EXPECT_EQ(content_of(directory / "log"), "whole bat");
}

TEST(file_faults, each_step_fails_with_the_number_of_the_fault) {
  const temporary_directory directory;
  auto log = file::open(directory / "log", file::mode::append_or_create);
  ASSERT_TRUE(log->append(as_bytes("12345678")));
  const auto failing = [&](auto call) {
    recording_faults faults(0, {EIO, 0});
    const scoped_file_faults installed(faults);
    const auto answer = call();
    return answer ? 0 : answer.error().system;
  };
  std::uint8_t two[2];
  EXPECT_EQ(failing([&] { return log->append(as_bytes("x")); }), EIO);
  EXPECT_EQ(failing([&] { return log->read_at(0, two); }), EIO);
  EXPECT_EQ(failing([&] { return log->sync(); }), EIO);
  EXPECT_EQ(failing([&] { return log->truncate(1); }), EIO);
  EXPECT_EQ(failing([&] { return sync_directory(directory.path()); }), EIO);
  EXPECT_EQ(failing([&] { return file::open(directory / "log", file::mode::read); }), EIO);
  EXPECT_EQ(failing([&] { return read_file(directory / "log", 100); }), EIO);
  EXPECT_EQ(content_of(directory / "log"), "12345678") << "what fails has no effect";
}

// Whatever step fails, the old or the new content is there, whole; the process is killed at each step likewise.
TEST(replace_file, is_all_or_nothing_at_every_step) {
  for (const bool killed : {false, true}) {
    int steps = 0;
    for (bool finished = false; !finished; ++steps) {
      const temporary_directory directory;
      const auto path = directory / "state";
      ASSERT_TRUE(replace_file(path, as_bytes("old")));
      class striking final : public file_faults {
       public:
        striking(int n, bool kill) : left_(n), kill_(kill) {}
        answer before(file_step, const std::filesystem::path&, std::uint64_t) override {
          if (left_-- != 0) return {};
          if (kill_) ::_exit(7);
          return {ENOSPC, 2};
        }

       private:
        int left_;
        bool kill_;
      } faults(steps, killed);
      const auto replace = [&] {
        const scoped_file_faults installed(faults);
        return replace_file(path, as_bytes("newer")).ok();
      };
      if (killed) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(replace() ? 0 : 1);
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        finished = WEXITSTATUS(status) == 0;
      } else {
        finished = replace();
        EXPECT_EQ(entries(directory.path()), 1u) << "a failure leaves nothing beside the file";
      }
      const std::string content = content_of(path);
      EXPECT_TRUE(content == "newer" || (content == "old" && !finished)) << steps << " " << content;
    }
    EXPECT_EQ(steps, 6) << "open, append, sync, rename, sync_directory, and the run that no fault strikes";
  }
}

TEST(directory_lock, keeps_every_other_holder_out_and_names_the_process) {
  const temporary_directory directory;
  const auto data = directory / "deep/er/data";
  {
    auto held = directory_lock::acquire(data);
    ASSERT_TRUE(held) << held.error().message;
    struct stat facts {};
    ASSERT_EQ(::stat(data.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700u);
    EXPECT_EQ(content_of(data / "lock"), std::to_string(::getpid()) + "\n");

    const auto second = directory_lock::acquire(data);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::locked);
    EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
    EXPECT_TRUE(names(second.error(), data));

    const directory_lock moved = std::move(*held);
    EXPECT_FALSE(directory_lock::acquire(data)) << "still held after a move";
  }
  EXPECT_TRUE(directory_lock::acquire(data)) << "free again";
  EXPECT_TRUE(directory_lock::acquire(data.string() + "/")) << "however it is spelled";
}

TEST(directory_lock, dies_with_its_process) {
  const temporary_directory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = directory_lock::acquire(directory.path());
    ::_exit(held ? 0 : 1);  // Without a destructor, as kill -9 would have it.
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(directory_lock::acquire(directory.path()));
  EXPECT_EQ(content_of(directory / "lock"), std::to_string(::getpid()) + "\n");
}

TEST(directory_lock, says_why_a_directory_cannot_be_had) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "file", as_bytes("x")));
  EXPECT_EQ(directory_lock::acquire(directory / "file").error().system, ENOTDIR);
  EXPECT_FALSE(directory_lock::acquire(directory / "file/below"));
}

}  // namespace
}  // namespace weir
