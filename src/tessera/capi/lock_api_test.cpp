// tessera_lock.h through the symbols of the library, against servers of the real tesserad: lists
// and strides, waits and times to live, servers that are killed, keys that are wrong, and arguments
// that make no sense.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tessera_lock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tessera/port/test_directory.hpp"

namespace tessera::capi {
namespace {

using Ranges = std::vector<tessera_lock_range>;

constexpr int64_t kBig = std::numeric_limits<int64_t>::max();
constexpr int64_t kBound = int64_t{1} << 62;
constexpr double kLongLeaseS = 60;  // longer than any test
constexpr double kLeaseS = 1;

constexpr tessera_lock_terms exclusive(double wait_s, double hold_s = 0) {
  return {TESSERA_LOCK_EXCLUSIVE, wait_s, hold_s};
}
constexpr tessera_lock_terms shared(double wait_s) { return {TESSERA_LOCK_SHARED, wait_s, 0}; }

void sleep_s(double seconds) { ::usleep(static_cast<useconds_t>(seconds * 1e6)); }

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A tesserad of its own.
class Server {
 public:
  explicit Server(const std::vector<std::string>& more, double lease_s = kLongLeaseS) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      become(more, lease_s);
    }
    ::close(ends[1]);
    errors_ = ::fdopen(ends[0], "r");
    std::array<char, 512> line{};
    EXPECT_NE(std::fgets(line.data(), line.size(), errors_), nullptr);
    said_ = line.data();
    EXPECT_NE(said_.find("locks at "), std::string::npos) << said_;
  }
  ~Server() { kill(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void kill() {
    if (child_ == 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::fclose(errors_);
    child_ = 0;
  }
  void freeze() const { ::kill(child_, SIGSTOP); }
  void thaw() const { ::kill(child_, SIGCONT); }
  // The first address of its line.
  [[nodiscard]] std::string address() const {
    const size_t begin = said_.find("locks at ") + 9;
    return said_.substr(begin, said_.find(',', begin) - begin);
  }

 private:
  [[noreturn]] static void become(const std::vector<std::string>& more, double lease_s) {
    std::vector<std::string> words = {TESSERAD, "--lock", "--lease", std::to_string(lease_s)};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(TESSERAD, pointers.data());
    ::_exit(127);
  }

  pid_t child_ = 0;
  FILE* errors_ = nullptr;
  std::string said_;
};

// A connection that a test calls in short.
class Client {
 public:
  explicit Client(const std::string& address, const char* key_file = nullptr) {
    EXPECT_EQ(tessera_lock_connect(address.c_str(), key_file, &connection_), TESSERA_LOCK_OK)
        << tessera_lock_error();
  }
  ~Client() { tessera_lock_disconnect(connection_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int list(const Ranges& ranges, const tessera_lock_terms& terms, const char* file = "f") {
    return tessera_lock_acquire_list(connection_, file, ranges.data(), ranges.size(), &terms,
                                     &lock_);
  }
  int strided(const tessera_lock_strided& ranges, const tessera_lock_terms& terms) {
    return tessera_lock_acquire_strided(connection_, "f", &ranges, &terms, &lock_);
  }
  int confirm() { return tessera_lock_confirm(connection_, lock_); }
  int release() { return tessera_lock_release(connection_, lock_); }
  // Until the lock is told to be lost.
  int wait_for_loss() {
    const double end_s = now_s() + 30;
    while (confirm() == TESSERA_LOCK_OK && now_s() < end_s) sleep_s(0.01);
    return confirm();
  }

  [[nodiscard]] tessera_lock_connection* connection() const { return connection_; }
  [[nodiscard]] tessera_lock_id lock() const { return lock_; }

 private:
  tessera_lock_connection* connection_ = nullptr;
  tessera_lock_id lock_ = 0;
};

class LockApi : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("TESSERA_LOCKS");
    ::unsetenv("TESSERA_KEY_FILE");
  }

  const port::TestDirectory directory_;
  const std::string address_ = "unix:" + directory_.path("locks");
};

class ServedLockApi : public LockApi {
 protected:
  Server server_{{"--fresh", "--listen", address_}};
  Client one_{address_};
  Client two_{address_};
};

void expect_error(const std::string& words) {
  EXPECT_NE(std::string(tessera_lock_error()).find(words), std::string::npos)
      << tessera_lock_error() << " instead of " << words;
}

TEST_F(ServedLockApi, TwoConnectionsExcludeEachOther) {
  ASSERT_EQ(one_.list({{0, 100}}, exclusive(-1)), TESSERA_LOCK_OK);
  EXPECT_STREQ(tessera_lock_error(), "");
  EXPECT_EQ(two_.list({{99, 1}}, shared(0)), TESSERA_LOCK_AGAIN);
  EXPECT_STRNE(tessera_lock_error(), "");
  EXPECT_EQ(two_.list({{100, 1}}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.release(), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.list({{99, 1}}, exclusive(0), "another file"), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.confirm(), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_OK);
  // A release is not answered, so whoever asks next may be heard first.
  EXPECT_EQ(two_.list({{99, 1}}, exclusive(-1)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, SharedLocksExcludeOnlyExclusiveOnes) {
  ASSERT_EQ(one_.list({{0, 100}}, shared(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.list({{50, 100}}, shared(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.list({{10, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
}

TEST_F(ServedLockApi, AListIsSortedAndMerged) {
  // [10, 20) twice over, [0, 5) behind it, and nothing at 1000.
  ASSERT_EQ(one_.list({{15, 5}, {10, 7}, {1000, 0}, {12, 8}, {0, 5}}, exclusive(0)),
            TESSERA_LOCK_OK);
  for (const int64_t byte : {0, 4, 10, 16, 19}) {
    EXPECT_EQ(two_.list({{byte, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN) << byte;
  }
  EXPECT_EQ(two_.list({{5, 5}, {20, 10'000}}, exclusive(0)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, NoTermsMeansExclusiveForEver) {
  const tessera_lock_range range = {0, 10};
  tessera_lock_id lock = 0;
  ASSERT_EQ(tessera_lock_acquire_list(one_.connection(), "f", &range, 1, nullptr, &lock),
            TESSERA_LOCK_OK);
  EXPECT_NE(lock, 0U);
  EXPECT_EQ(two_.list({{0, 1}}, shared(0)), TESSERA_LOCK_AGAIN);
}

TEST_F(ServedLockApi, InterleavedStridesDoNotMeet) {
  const int64_t count = 1'000'000'000;
  ASSERT_EQ(one_.strided({0, 8, 16, count}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.strided({8, 8, 16, count}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(two_.list({{16 * (count - 1) + 7, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  EXPECT_EQ(two_.list({{16 * count, 1}}, exclusive(0)), TESSERA_LOCK_OK);
  // Ranges that touch are one.
  EXPECT_EQ(two_.strided({16 * count + 1, 8, 8, 4}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.list({{16 * count + 32, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  EXPECT_EQ(one_.list({{16 * count + 33, 1}}, exclusive(0)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, ATimedWaitEndsInTime) {
  ASSERT_EQ(one_.list({{0, 100}}, exclusive(0)), TESSERA_LOCK_OK);
  const double begin_s = now_s();
  EXPECT_EQ(two_.list({{0, 1}}, exclusive(0.3)), TESSERA_LOCK_AGAIN);
  EXPECT_GE(now_s() - begin_s, 0.3);
  EXPECT_LT(now_s() - begin_s, 30);
}

TEST_F(ServedLockApi, ATimeToLiveEndsALockAndItsHolderIsToldWhy) {
  const double begin_s = now_s();
  ASSERT_EQ(one_.list({{0, 100}}, exclusive(0, 0.4)), TESSERA_LOCK_OK);
  // Waits until then, and no longer.
  EXPECT_EQ(two_.list({{50, 10}}, exclusive(-1)), TESSERA_LOCK_OK);
  EXPECT_GE(now_s() - begin_s, 0.4);
  EXPECT_EQ(one_.wait_for_loss(), TESSERA_LOCK_LOST);
  // As often as it is asked for.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one_.confirm(), TESSERA_LOCK_LOST);
    expect_error("taken away while it was in use: the lock was held for longer");
  }
  EXPECT_EQ(one_.release(), TESSERA_LOCK_LOST);
  expect_error("taken away while it was in use: the lock was held for longer");
  EXPECT_EQ(one_.release(), TESSERA_LOCK_INVALID);
  EXPECT_EQ(two_.release(), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, ReleaseTellsALossThatNobodyHasAskedFor) {
  ASSERT_EQ(one_.list({{0, 100}}, exclusive(0, 0.2)), TESSERA_LOCK_OK);
  ASSERT_EQ(two_.list({{0, 100}}, exclusive(-1)), TESSERA_LOCK_OK);
  // Whoever is answered later knows that the word of it is on its way.
  ASSERT_EQ(two_.list({{500, 1}}, exclusive(-1)), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_LOST);
  expect_error("held for longer");
}

// What was given up leaves nothing behind.
TEST_F(ServedLockApi, ASilentServerIsTold) {
  ASSERT_EQ(one_.list({{0, 1}}, exclusive(0)), TESSERA_LOCK_OK);
  ASSERT_EQ(two_.list({{1, 1}}, exclusive(0)), TESSERA_LOCK_OK);
  server_.freeze();
  EXPECT_EQ(one_.list({{10, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  expect_error(address_ + " is silent");
  server_.thaw();
  EXPECT_EQ(two_.list({{10, 1}}, exclusive(-1)), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.confirm(), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, DisconnectionGivesAllBack) {
  {
    Client third(address_);
    ASSERT_EQ(third.list({{0, 10}}, exclusive(0)), TESSERA_LOCK_OK);
    ASSERT_EQ(third.list({{20, 10}}, exclusive(0)), TESSERA_LOCK_OK);
  }
  EXPECT_EQ(one_.list({{0, 100}}, exclusive(kLongLeaseS / 2)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, ALockThatIsOverIsToldAndHarmsNobody) {
  ASSERT_EQ(one_.list({{0, 10}}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(tessera_lock_release(two_.connection(), one_.lock()), TESSERA_LOCK_INVALID);
  expect_error("no lock");
  EXPECT_EQ(one_.confirm(), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_INVALID);
  EXPECT_EQ(one_.confirm(), TESSERA_LOCK_INVALID);
  EXPECT_EQ(tessera_lock_confirm(one_.connection(), 0), TESSERA_LOCK_INVALID);
}

TEST_F(ServedLockApi, BadRangesAreRefused) {
  for (const Ranges& ranges : std::vector<Ranges>{{},
                                                  {{5, 0}},
                                                  {{-1, 10}},
                                                  {{0, 1}, {10, -1}},
                                                  {{kBig, 1}},
                                                  {{1, kBig}},
                                                  {{kBig, kBig}},
                                                  {{kBound, 1}},
                                                  {{-kBig - 1, kBig}},
                                                  {{0, kBound}, {0, kBound}, {0, kBound}}}) {
    EXPECT_EQ(one_.list(ranges, exclusive(0)), TESSERA_LOCK_INVALID);
    EXPECT_STRNE(tessera_lock_error(), "");
  }
  EXPECT_EQ(one_.list({{0, 1}, {-7, 1}}, exclusive(0)), TESSERA_LOCK_INVALID);
  expect_error("range 1 begins at -7");
  for (const tessera_lock_strided& ranges : {tessera_lock_strided{0, 0, 1, 1},
                                             {0, 8, 16, 0},
                                             {0, 8, 16, -1},
                                             {-1, 8, 16, 2},
                                             {0, 8, 7, 2},
                                             {0, 8, 0, 2},
                                             {0, 8, -16, 2},
                                             {0, 8, kBig, 2},
                                             {0, 8, 16, kBig},
                                             {kBig, kBig, kBig, kBig},
                                             {0, 1, kBound, 3}}) {
    EXPECT_EQ(one_.strided(ranges, exclusive(0)), TESSERA_LOCK_INVALID);
    EXPECT_STRNE(tessera_lock_error(), "");
  }
  // The largest that there are.
  EXPECT_EQ(one_.list({{0, kBound}}, exclusive(0)), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.strided({kBound - 8, 8, -1, 1}, exclusive(0)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, BadTermsAreRefused) {
  const double nothing = std::nan("");
  for (const tessera_lock_terms& terms :
       {exclusive(nothing), exclusive(0, nothing), exclusive(1e300), exclusive(0, 1e300),
        exclusive(0, -1), exclusive(HUGE_VAL), exclusive(0, HUGE_VAL)}) {
    EXPECT_EQ(one_.list({{0, 1}}, terms), TESSERA_LOCK_INVALID);
  }
  tessera_lock_terms terms = exclusive(0);
  const int no_mode = 7;
  static_assert(sizeof(no_mode) == sizeof(terms.mode));
  std::memcpy(&terms.mode, &no_mode, sizeof(no_mode));
  EXPECT_EQ(one_.list({{0, 1}}, terms), TESSERA_LOCK_INVALID);
  expect_error("no mode 7");
}

TEST_F(ServedLockApi, MissingArgumentsAreRefused) {
  const tessera_lock_range range = {0, 1};
  const tessera_lock_terms terms = exclusive(0);
  tessera_lock_connection* const connection = one_.connection();
  tessera_lock_id lock = 0;
  const auto list = [&](tessera_lock_connection* at, const char* file,
                        const tessera_lock_range* ranges, tessera_lock_id* to) {
    return tessera_lock_acquire_list(at, file, ranges, 1, &terms, to);
  };
  EXPECT_EQ(list(nullptr, "f", &range, &lock), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, nullptr, &range, &lock), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, "", &range, &lock), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, "f", nullptr, &lock), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, "f", &range, nullptr), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, std::string(513, 'f').c_str(), &range, &lock), TESSERA_LOCK_INVALID);
  EXPECT_EQ(list(connection, std::string(512, 'f').c_str(), &range, &lock), TESSERA_LOCK_OK);
  EXPECT_EQ(tessera_lock_acquire_strided(connection, "f", nullptr, &terms, &lock),
            TESSERA_LOCK_INVALID);
  EXPECT_EQ(tessera_lock_confirm(nullptr, 1), TESSERA_LOCK_INVALID);
  EXPECT_EQ(tessera_lock_release(nullptr, 1), TESSERA_LOCK_INVALID);
  tessera_lock_disconnect(nullptr);
  EXPECT_EQ(tessera_lock_connect(address_.c_str(), nullptr, nullptr), TESSERA_LOCK_INVALID);
}

// More than fits a frame must not wait for ever.
TEST_F(ServedLockApi, AListThatNoMessageHoldsIsRefused) {
  Ranges ranges;
  int64_t at = 0;
  for (uint64_t i = 0; i < 3'500'000; ++i) {
    at += 2 + static_cast<int64_t>((i * i * 2654435761U) >> 20U) % 100'000'000;
    ranges.push_back({at, 1 + static_cast<int64_t>(i * 40503U % 65'521U % 7U)});
    at += 8;
  }
  EXPECT_EQ(one_.list(ranges, exclusive(-1)), TESSERA_LOCK_INVALID);
  expect_error("more than a message holds");
  ranges.resize(100'000);
  EXPECT_EQ(one_.list(ranges, exclusive(-1)), TESSERA_LOCK_OK) << tessera_lock_error();
}

TEST_F(ServedLockApi, AConnectionHasSoManyLocksAndNoMore) {
  for (int64_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(one_.list({{i, 1}}, exclusive(-1)), TESSERA_LOCK_OK) << i;
  }
  EXPECT_EQ(one_.list({{5000, 1}}, exclusive(-1)), TESSERA_LOCK_AGAIN);
  EXPECT_EQ(one_.release(), TESSERA_LOCK_OK);
  EXPECT_EQ(one_.list({{5000, 1}}, exclusive(-1)), TESSERA_LOCK_OK);
}

TEST_F(ServedLockApi, TheExampleLosesNoUpdate) {
  const std::string command = "TESSERA_LOCKS=" + address_ + " " + LIST_LOCK;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(LockApi, ALockOutlastsAServerThatIsBackInTimeAndNoOther) {
  Client client(address_);
  {
    Server first({"--fresh", "--listen", address_}, kLeaseS);
    ASSERT_EQ(client.list({{0, 10}}, exclusive(-1)), TESSERA_LOCK_OK);
    first.kill();
    const Server second({"--listen", address_}, kLeaseS);
    sleep_s(3 * kLeaseS);
    EXPECT_EQ(client.confirm(), TESSERA_LOCK_OK) << tessera_lock_error();
  }
  EXPECT_EQ(client.wait_for_loss(), TESSERA_LOCK_LOST);
  expect_error("lease");
  EXPECT_EQ(client.release(), TESSERA_LOCK_LOST);
  // Nobody answers any more, and that is told.
  EXPECT_EQ(client.list({{0, 10}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  expect_error("cannot be reached");
}

TEST_F(LockApi, ServersAreFoundByTheEnvironment) {
  tessera_lock_connection* connection = nullptr;
  EXPECT_EQ(tessera_lock_connect(nullptr, nullptr, &connection), TESSERA_LOCK_INVALID);
  expect_error("TESSERA_LOCKS");
  EXPECT_EQ(connection, nullptr);
  const std::string other = "unix:" + directory_.path("other");
  const Server first({"--fresh", "--listen", address_});
  const Server second({"--fresh", "--listen", other});
  ::setenv("TESSERA_LOCKS", (address_ + "," + other).c_str(), 1);
  ASSERT_EQ(tessera_lock_connect(nullptr, nullptr, &connection), TESSERA_LOCK_OK);
  Client client(other + "," + address_);
  // Whatever the order of the servers, a file has one.
  for (int i = 0; i < 8; ++i) {
    const std::string file = "file " + std::to_string(i);
    const tessera_lock_range range = {0, 1};
    tessera_lock_id lock = 0;
    ASSERT_EQ(tessera_lock_acquire_list(connection, file.c_str(), &range, 1, nullptr, &lock),
              TESSERA_LOCK_OK);
    EXPECT_EQ(client.list({{0, 1}}, exclusive(0), file.c_str()), TESSERA_LOCK_AGAIN);
  }
  tessera_lock_disconnect(connection);
}

TEST_F(LockApi, AddressesThatAreNoneAreRefused) {
  tessera_lock_connection* connection = nullptr;
  for (const char* address : {"", "nonsense", "unix:", "host:99999", "unix:/a,unix:/a"}) {
    EXPECT_EQ(tessera_lock_connect(address, nullptr, &connection), TESSERA_LOCK_INVALID) << address;
    EXPECT_STRNE(tessera_lock_error(), "");
    EXPECT_EQ(connection, nullptr);
  }
}

class KeyedLockApi : public LockApi {
 protected:
  std::string make_key(const std::string& name) {
    const std::string command = std::string(TESSERAD) + " --make-key " + directory_.path(name);
    EXPECT_EQ(std::system((command + " 2>/dev/null").c_str()), 0);
    return directory_.path(name);
  }

  const std::string right_ = make_key("right");
  const std::string wrong_ = make_key("wrong");
};

TEST_F(KeyedLockApi, TcpAsksForTheRightKey) {
  const Server server({"--fresh", "--listen", "127.0.0.1:0", "--key-file", right_});
  Client known(server.address(), right_.c_str());
  EXPECT_EQ(known.list({{0, 1}}, exclusive(-1)), TESSERA_LOCK_OK) << tessera_lock_error();
  ::setenv("TESSERA_KEY_FILE", right_.c_str(), 1);
  Client also_known(server.address());
  EXPECT_EQ(also_known.list({{0, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  EXPECT_EQ(also_known.list({{1, 1}}, exclusive(0)), TESSERA_LOCK_OK);
  Client stranger(server.address(), wrong_.c_str());
  EXPECT_EQ(stranger.list({{2, 1}}, exclusive(0)), TESSERA_LOCK_AGAIN);
  expect_error("cannot be reached");
  expect_error("key");
  EXPECT_EQ(known.confirm(), TESSERA_LOCK_OK);
}

TEST_F(KeyedLockApi, KeyFilesThatCannotBeUsedAreTold) {
  tessera_lock_connection* connection = nullptr;
  const auto connect = [&](const std::string& file) {
    return tessera_lock_connect("localhost:7000", file.empty() ? nullptr : file.c_str(),
                                &connection);
  };
  EXPECT_EQ(connect(""), TESSERA_LOCK_FAILED);
  expect_error("TESSERA_KEY_FILE");
  EXPECT_EQ(connect(directory_.path("none")), TESSERA_LOCK_FAILED);
  ASSERT_EQ(::chmod(wrong_.c_str(), 0644), 0);
  EXPECT_EQ(connect(wrong_), TESSERA_LOCK_FAILED);
  expect_error(wrong_);
  EXPECT_EQ(connection, nullptr);
}

}  // namespace
}  // namespace tessera::capi
