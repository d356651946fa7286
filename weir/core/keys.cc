#include <weir/core/keys.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/core/base58.h>
#include <weir/core/file.h>
#include <weir/core/hex.h>
#include <weir/core/internal/posix.h>
#include <weir/core/random.h>

namespace weir {

namespace {

static_assert(crypto_sign_PUBLICKEYBYTES == std::tuple_size_v<decltype(public_key::octets)>);
static_assert(crypto_sign_SECRETKEYBYTES == 64);
static_assert(crypto_sign_BYTES == std::tuple_size_v<signature>);
static_assert(crypto_sign_SEEDBYTES == 32);

using seed = std::array<std::uint8_t, 32>;

// multicodec ed25519-pub, 0xed, as a varint.
constexpr std::uint8_t ed25519_prefix[] = {0xed, 0x01};
// A text of this length holds the key of every curve that did:key knows, so that the error can say which was seen.
constexpr std::size_t key_text_max = 128;

constexpr std::string_view file_prefix = "weir-ed25519-seed-v1 ";
constexpr std::size_t file_size = file_prefix.size() + 64 + 1;

// Every function of libsodium asks for sodium_init() first; it chooses the code for this CPU.
void need_sodium() noexcept {
  static const bool ready = [] {
    if (::sodium_init() >= 0) return true;
    std::fputs("weir: libsodium does not start\n", stderr);
    std::abort();
  }();
  (void)ready;
}

// Wipes a secret however the block is left.
struct wiped_on_exit {
  std::span<std::uint8_t> secret;
  ~wiped_on_exit() { ::sodium_memzero(secret.data(), secret.size()); }
};

result<key_pair> read_key_file(const internal::descriptor& opened, const std::filesystem::path& path) {
  struct stat facts {};
  if (::fstat(opened.get(), &facts) < 0) return internal::file_error("examine", path, errno);
  if (!S_ISREG(facts.st_mode)) {
    return fail(errc::malformed, fmt::format("'{}' is no key file: not a regular file", path.native()));
  }
  if ((facts.st_mode & 077) != 0) {
    return fail(errc::permission, fmt::format("the key file '{0}' has mode {1:04o}, so others may use the key: run "
                                              "chmod 600 '{0}'",
                                              path.native(), facts.st_mode & 07777));
  }
  std::array<std::uint8_t, file_size + 1> content;
  const wiped_on_exit wipe_content{content};
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got =
        internal::retried([&] { return ::read(opened.get(), content.data() + filled, content.size() - filled); });
    if (got < 0) return internal::file_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  const std::string_view line = as_text(bytes_view(content).first(filled));
  seed secret;
  const wiped_on_exit wipe_secret{secret};
  if (line.size() != file_size || !line.starts_with(file_prefix) || !line.ends_with('\n') ||
      !from_hex(line.substr(file_prefix.size(), 64), secret)) {
    return fail(errc::malformed, fmt::format("'{}' is no key file: one line \"{}\" and 64 hexadecimal digits are "
                                             "expected",
                                             path.native(), file_prefix));
  }
  return key_pair::from_seed(secret);
}

// Puts a fresh key in place under the file's name, unless another process is faster.
result<void> create_key_file(const std::filesystem::path& path) {
  seed secret;
  const wiped_on_exit wipe_secret{secret};
  randomness::system().fill(secret);
  std::string digits = to_hex(secret);
  const wiped_on_exit wipe_digits{{reinterpret_cast<std::uint8_t*>(digits.data()), digits.size()}};
  std::array<std::uint8_t, file_size> line;
  const wiped_on_exit wipe_line{line};
  auto to = std::copy(file_prefix.begin(), file_prefix.end(), line.begin());
  to = std::copy(digits.begin(), digits.end(), to);
  *to = '\n';

  // link(2), unlike rename(2), leaves a file alone that is there already: of two processes that get here together, one
  // puts its key in place and the other reads it.
  WEIR_TRY(const auto beside, internal::write_beside(path, line, 0600));
  int number = internal::fault_before(file_step::rename, path).number;
  if (number == 0 && ::link(beside.c_str(), path.c_str()) < 0) number = errno;
  ::unlink(beside.c_str());
  if (number != 0 && number != EEXIST) return internal::file_error("create", path, number);
  // The loser syncs too: it is about to use a key whose name may not be durable yet.
  return sync_directory(internal::directory_of(path));
}

}  // namespace

std::string public_key::text() const {
  std::array<std::uint8_t, sizeof ed25519_prefix + 32> tagged;
  auto to = std::copy(std::begin(ed25519_prefix), std::end(ed25519_prefix), tagged.begin());
  std::copy(octets.begin(), octets.end(), to);
  return "z" + to_base58(tagged);
}

result<public_key> public_key::parse(std::string_view text) {
  if (!text.starts_with('z')) {
    return fail(errc::malformed, "a public key begins with \"z6Mk\", without \"did:key:\"");
  }
  const auto tagged = from_base58(text.substr(1), key_text_max);
  if (!tagged) {
    return fail(errc::malformed, fmt::format("no public key: after its prefix, {}", tagged.error().message));
  }
  if (tagged->size() < sizeof ed25519_prefix ||
      !std::equal(std::begin(ed25519_prefix), std::end(ed25519_prefix), tagged->begin())) {
    return fail(errc::unsupported, fmt::format("'{}' is no Ed25519 key; theirs begin with \"z6Mk\"", text));
  }
  public_key key;
  if (tagged->size() != sizeof ed25519_prefix + key.octets.size()) {
    return fail(errc::malformed,
                fmt::format("an Ed25519 key has 32 octets, this one {}", tagged->size() - sizeof ed25519_prefix));
  }
  std::copy(tagged->begin() + sizeof ed25519_prefix, tagged->end(), key.octets.begin());
  return key;
}

bool public_key::verify(bytes_view message, const signature& sig) const noexcept {
  need_sodium();
  return ::crypto_sign_verify_detached(sig.data(), message.data(), message.size(), octets.data()) == 0;
}

key_pair key_pair::generate() {
  seed secret;
  const wiped_on_exit wipe{secret};
  randomness::system().fill(secret);
  return from_seed(secret);
}

key_pair key_pair::from_seed(const seed& secret) {
  need_sodium();
  key_pair made;
  ::crypto_sign_seed_keypair(made.public_.octets.data(), made.secret_.data(), secret.data());
  return made;
}

result<key_pair> key_pair::load_or_create(const std::filesystem::path& path) {
  // A directory's fsync is slow, so the common case, a file that is there, takes one look.
  auto opened = internal::open_file(path, O_RDONLY | O_NONBLOCK, 0, "open");
  if (!opened && opened.error().system == ENOENT) {
    WEIR_CHECK(create_key_file(path));
    opened = internal::open_file(path, O_RDONLY | O_NONBLOCK, 0, "open");
  }
  if (!opened) return std::move(opened).error();
  return read_key_file(*opened, path);
}

key_pair::key_pair(key_pair&& other) noexcept : secret_(other.secret_), public_(other.public_) {
  ::sodium_memzero(other.secret_.data(), other.secret_.size());
}

key_pair& key_pair::operator=(key_pair&& other) noexcept {
  if (this != &other) {
    secret_ = other.secret_;
    public_ = other.public_;
    ::sodium_memzero(other.secret_.data(), other.secret_.size());
  }
  return *this;
}

key_pair::~key_pair() { ::sodium_memzero(secret_.data(), secret_.size()); }

signature key_pair::sign(bytes_view message) const {
  signature sig;
  ::crypto_sign_detached(sig.data(), nullptr, message.data(), message.size(), secret_.data());
  return sig;
}

}  // namespace weir
