#include "tessera/container/target.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tessera/container/writer_claim.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::container {
namespace {

using base::Code;
using port::Existing;

// One before whose publication somebody else takes the name.
class LateFile final : public port::FreshFile {
 public:
  LateFile(port::FreshFile& fresh, std::function<void()> before)
      : fresh_(fresh), before_(std::move(before)) {}
  port::File& file() override { return fresh_.file(); }
  [[nodiscard]] std::string reach() const override { return fresh_.reach(); }
  base::Result<void> publish(Existing existing) override {
    if (before_) std::exchange(before_, {})();
    return fresh_.publish(existing);
  }

 private:
  port::FreshFile& fresh_;
  std::function<void()> before_;
};

class TargetTest : public testing::Test {
 protected:
  std::unique_ptr<port::PlainFile> make(const std::string& path) {
    auto file = port::PlainFile::open(path, {.read = true, .write = true, .create = true});
    EXPECT_TRUE(file) << file.error().message();
    return *std::move(file);
  }
  static std::unique_ptr<port::PosixFreshFile> make_fresh(const Target& target) {
    auto fresh = port::PosixFreshFile::create(target.path(), 0600);
    EXPECT_TRUE(fresh) << fresh.error().message();
    return *std::move(fresh);
  }
  // Whether the path does.
  bool leads_to(const port::PlainFile& file) {
    const auto named = port::PlainFile::open(path_, {.read = true});
    return named && *(*named)->identity() == *file.identity();
  }
  static Code refusal(const std::string& path, Existing existing) {
    const auto target = Target::hold(path, existing);
    EXPECT_FALSE(target);
    return target ? Code::kFailed : target.error().code;
  }

  port::TestDirectory directory_;
  const std::string path_ = directory_.path("out");
};

TEST_F(TargetTest, WhatIsThereIsReplacedOnlyIfItIsAskedFor) {
  EXPECT_TRUE(Target::hold(path_, Existing::kKeep));
  const auto file = make(path_);
  EXPECT_EQ(refusal(path_, Existing::kKeep), Code::kInvalid);
  EXPECT_TRUE(Target::hold(path_, Existing::kReplace));
  EXPECT_EQ(refusal(directory_.path("."), Existing::kReplace), Code::kInvalid);
  EXPECT_EQ(refusal("-", Existing::kReplace), Code::kInvalid);
}

TEST_F(TargetTest, WhatSomebodyWritesIsNotReplaced) {
  auto file = make(path_);
  ASSERT_TRUE(claim_for_writing(*file));
  EXPECT_EQ(refusal(path_, Existing::kReplace), Code::kRetry);
  file.reset();
  EXPECT_TRUE(Target::hold(path_, Existing::kReplace));
}

TEST_F(TargetTest, NobodyWritesWhatIsHeld) {
  auto file = make(path_);
  {
    const auto target = Target::hold(path_, Existing::kReplace);
    ASSERT_TRUE(target);
    EXPECT_FALSE(claim_for_writing(*file));
    EXPECT_EQ(refusal(path_, Existing::kReplace), Code::kRetry);
  }
  EXPECT_TRUE(claim_for_writing(*file));
}

TEST_F(TargetTest, WhatTookTheNameMeanwhileIsAskedToo) {
  auto target = Target::hold(path_, Existing::kReplace);
  ASSERT_TRUE(target);
  auto writing = make(path_);
  ASSERT_TRUE(claim_for_writing(*writing));
  const auto fresh = make_fresh(*target);
  const auto refused = target->publish(*fresh);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRetry);
  EXPECT_TRUE(leads_to(*writing));
  writing.reset();
  EXPECT_TRUE(target->publish(*fresh));
  EXPECT_TRUE(leads_to(fresh->file()));
}

TEST_F(TargetTest, WhatTookTheNameAtTheLastMomentIsAskedToo) {
  for (const bool is_written : {false, true}) {
    auto target = Target::hold(path_, Existing::kReplace);
    ASSERT_TRUE(target);
    std::unique_ptr<port::PlainFile> theirs;
    const auto fresh = make_fresh(*target);
    LateFile late(*fresh, [&] {
      theirs = make(path_);
      EXPECT_TRUE(!is_written || claim_for_writing(*theirs));
    });
    const auto published = target->publish(late);
    ASSERT_EQ(published.has_value(), !is_written);
    EXPECT_TRUE(leads_to(is_written ? *theirs : static_cast<port::PlainFile&>(fresh->file())));
    ASSERT_EQ(std::remove(path_.c_str()), 0);
  }
}

TEST_F(TargetTest, WhatTookTheNameMeanwhileStaysUnlessItMayBeReplaced) {
  auto target = Target::hold(path_, Existing::kKeep);
  ASSERT_TRUE(target);
  const auto file = make(path_);
  const auto fresh = make_fresh(*target);
  const auto refused = target->publish(*fresh);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_TRUE(leads_to(*file));
}

TEST_F(TargetTest, WhoeverWorksInPlaceSeesThatTheNameLeadsElsewhere) {
  EXPECT_FALSE(Target::hold(path_, Existing::kReplace)->require_unchanged());
  const auto file = make(path_);
  const auto target = Target::hold(path_, Existing::kReplace);
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->require_unchanged());
  const std::string other = directory_.path("other");
  make(other);
  ASSERT_EQ(std::rename(other.c_str(), path_.c_str()), 0);
  const auto changed = target->require_unchanged();
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kRetry);
}

TEST_F(TargetTest, ASymbolicLinkStays) {
  const std::string link = directory_.path("link");
  ASSERT_EQ(::symlink("out", link.c_str()), 0);
  EXPECT_EQ(refusal(link, Existing::kReplace), Code::kNotFound);
  const auto old = make(path_);
  EXPECT_EQ(refusal(link, Existing::kKeep), Code::kInvalid);
  auto target = Target::hold(link, Existing::kReplace);
  ASSERT_TRUE(target);
  const auto fresh = make_fresh(*target);
  EXPECT_TRUE(target->publish(*fresh));
  EXPECT_TRUE(leads_to(fresh->file()));
  struct stat status {};
  EXPECT_EQ(::lstat(link.c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
}

TEST_F(TargetTest, ALinkToNothingThatTookTheNameMeanwhileIsNoEndlessLoop) {
  auto target = Target::hold(path_, Existing::kReplace);
  ASSERT_TRUE(target);
  const auto fresh = make_fresh(*target);
  ASSERT_EQ(::symlink("nothing", path_.c_str()), 0);
  const auto refused = target->publish(*fresh);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().errno_value, EEXIST);
}

TEST_F(TargetTest, FilesAreOneByWhatTheirNamesLeadTo) {
  const std::string link = directory_.path("link");
  ASSERT_EQ(::symlink("out", link.c_str()), 0);
  make(path_);
  make(directory_.path("other"));
  EXPECT_TRUE(is_one_file(path_, link));
  EXPECT_FALSE(is_one_file(path_, directory_.path("other")));
  EXPECT_TRUE(is_one_file(directory_.path("none"), directory_.path("./none")));
}

}  // namespace
}  // namespace tessera::container
