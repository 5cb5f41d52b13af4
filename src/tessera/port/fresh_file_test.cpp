#include "tessera/port/fresh_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "tessera/port/posix_disk.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::port {
namespace {

using Names = std::vector<std::string>;

class FreshFileTest : public testing::TestWithParam<bool> {
 protected:
  // With a name of its own from the beginning, or without.
  std::unique_ptr<PosixFreshFile> make(const std::string& name, mode_t permissions = 0600) {
    const std::string path = directory_.path(name);
    auto fresh = GetParam() ? PosixFreshFile::create_named(path, permissions)
                            : PosixFreshFile::create(path, permissions);
    EXPECT_TRUE(fresh) << fresh.error().message();
    return *std::move(fresh);
  }
  void write(const std::string& name, const std::string& text) {
    const auto file = PlainFile::open(directory_.path(name), {.write = true, .create = true});
    ASSERT_TRUE((*file)->write_at(0, base::bytes_of(text)));
  }
  std::string read(const std::string& name) {
    const auto file = PlainFile::open(directory_.path(name), {.read = true}).value();
    std::string text(static_cast<size_t>(file->size().value()), '\0');
    EXPECT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(text))));
    return text;
  }
  Names names() { return disk_.list(directory_.path(".")).value(); }
  // Whether a child process ends as the body wants it to: it makes `out` and dies.
  template <typename Body>
  void in_dying_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
  }

  TestDirectory directory_;
  PosixDisk disk_;
};

INSTANTIATE_TEST_SUITE_P(Names, FreshFileTest, testing::Bool(),
                         [](const auto& named) { return named.param ? "Named" : "Unnamed"; });

// (FRESH-1)
TEST_P(FreshFileTest, AppearsWholeOrNotAtAll) {
  { const auto given_up = make("out"); }
  EXPECT_EQ(names(), Names{});
  const auto fresh = make("out");
  ASSERT_TRUE(fresh->file().write_at(0, base::bytes_of("whole")));
  EXPECT_NE(::access(directory_.path("out").c_str(), F_OK), 0);
  EXPECT_EQ(names().size(), GetParam() ? 1U : 0U);
  ASSERT_TRUE(fresh->publish(Existing::kKeep));
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(read("out"), "whole");
}

TEST_P(FreshFileTest, ReplacesOnlyWhereItIsAskedTo) {
  write("out", "old");
  {
    const auto fresh = make("out");
    const auto refused = fresh->publish(Existing::kKeep);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::Code::kInvalid);
    EXPECT_EQ(refused.error().errno_value, EEXIST);
  }
  EXPECT_EQ(read("out"), "old");
  const auto fresh = make("out");
  ASSERT_TRUE(fresh->file().write_at(0, base::bytes_of("new")));
  ASSERT_TRUE(fresh->publish(Existing::kReplace));
  EXPECT_EQ(read("out"), "new");
  EXPECT_EQ(names(), Names{"out"});
}

// (FRESH-2)
TEST_P(FreshFileTest, TwoOfOneNameLeaveEachOtherAlone) {
  const auto one = make("out");
  const auto other = make("out");
  ASSERT_TRUE(one->file().write_at(0, base::bytes_of("one")));
  ASSERT_TRUE(other->file().write_at(0, base::bytes_of("other")));
  ASSERT_TRUE(one->publish(Existing::kReplace));
  EXPECT_EQ(read("out"), "one");
  ASSERT_TRUE(other->publish(Existing::kReplace));
  EXPECT_EQ(read("out"), "other");
  EXPECT_EQ(names(), Names{"out"});
}

TEST_P(FreshFileTest, PermissionsAreThoseAskedForLessTheUmask) {
  const mode_t before = ::umask(022);
  const auto fresh = make("out", 0666);
  ::umask(before);
  ASSERT_TRUE(fresh->publish(Existing::kKeep));
  struct stat status {};
  ASSERT_EQ(::stat(directory_.path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

// (FRESH-3)
TEST_P(FreshFileTest, WhatAKillLeavesTheNextOneRemoves) {
  write(".out.0123456789abcdef.tesserae", "somebody's");
  write(".out.0123456789abcdeF.tessera", "somebody's");
  write("out.remap", "somebody's");
  const Names others = names();
  in_dying_child([&] {
    const auto fresh = make("out");
    if (fresh->show()) ::raise(SIGKILL);
  });
  EXPECT_EQ(names().size(), others.size() + 1);
  { const auto other_name = make("else"); }
  EXPECT_EQ(names().size(), others.size() + 1);
  const auto held = PosixFreshFile::create_named(directory_.path("out"), 0600).value();
  EXPECT_EQ(names().size(), others.size() + 2);
  { const auto next = PosixFreshFile::create(directory_.path("out"), 0600); }
  EXPECT_EQ(names().size(), others.size() + 1);  // that which is held
  ASSERT_TRUE(held->publish(Existing::kReplace));
}

// (FRESH-4)
TEST_P(FreshFileTest, ASignalLeavesNothing) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    in_dying_child([&] {
      remove_unfinished_at_signals();
      const auto fresh = make("out");
      if (fresh->show()) ::raise(signal);
    });
    EXPECT_EQ(names(), Names{}) << signal;
  }
}

TEST_P(FreshFileTest, OthersOpenItMeanwhile) {
  constexpr int kRanks = 3;
  std::unique_ptr<PosixFreshFile> fresh = make("out");
  ASSERT_TRUE(fresh->file().truncate(kRanks));
  run_ranks(kRanks, [&](Exchange& exchange) {
    const auto reach = reach_together(exchange, exchange.rank() == 0 ? fresh.get() : nullptr);
    ASSERT_TRUE(reach);
    const auto file = disk_.open_fresh(*reach, "out", Access::kReadWrite);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ((*file)->path(), "out");
    const std::string letter(1, static_cast<char>('a' + exchange.rank()));
    EXPECT_TRUE((*file)->write_at(exchange.rank(), base::bytes_of(letter)));
  });
  EXPECT_EQ(names().size(), GetParam() ? 1U : 0U);
  ASSERT_TRUE(fresh->publish(Existing::kKeep));
  EXPECT_EQ(read("out"), "abc");
}

TEST_P(FreshFileTest, FailsWhereNothingCanBeMade) {
  const std::string path = directory_.path("none/out");
  const auto fresh =
      GetParam() ? PosixFreshFile::create_named(path, 0600) : PosixFreshFile::create(path, 0600);
  ASSERT_FALSE(fresh);
  EXPECT_EQ(fresh.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace tessera::port
