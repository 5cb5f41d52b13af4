#include "bench/child_program.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "bench/case.hpp"
#include "bench/scratch_folder.hpp"

namespace tessera::bench {
namespace {

TEST(ChildProgram, TellsHowItEnded) {
  auto child = ChildProgram::start({"/bin/sh", "-c", "exit 7"});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ends_within(10), 7);
}

TEST(ChildProgram, OneThatRunsHasNoStatusUntilItIsAskedToEnd) {
  auto child = ChildProgram::start({"/bin/sleep", "100"});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ends_within(0.01), std::nullopt);
  child->ask_to_end();
  EXPECT_EQ(child->ends_within(10), -1);
}

TEST(ChildProgram, EndsWithTheObject) {
  const double begin = now_ns();
  { auto child = ChildProgram::start({"/bin/sleep", "100"}); }
  EXPECT_LT(now_ns() - begin, 10e9);
}

TEST(ChildProgram, WhatItPrintsIsLogged) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder);
  const std::string log = folder->path() + "/log";
  auto child = ChildProgram::start({"/bin/sh", "-c", "echo out; echo err >&2"}, log);
  ASSERT_TRUE(child);
  ASSERT_EQ(child->ends_within(10), 0);
  std::stringstream said;
  said << std::ifstream(log).rdbuf();
  EXPECT_EQ(said.str(), "out\nerr\n");
}

TEST(ChildProgram, AMissingProgramIsNotFound) {
  EXPECT_EQ(program_beside("no-such-program").error().code, base::Code::kNotFound);
  auto child = ChildProgram::start({"/nonexistent/program"});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ends_within(10), 127);
}

}  // namespace
}  // namespace tessera::bench
