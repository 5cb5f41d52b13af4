#include "tessera/port/key_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

const std::string kDigits(64, 'a');

class KeyFile : public ::testing::Test {
 protected:
  // A file with these contents.
  std::string file(const std::string& text, mode_t mode = 0600) const {
    const std::string path = directory_.path("given");
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  // Fails with the code, names the file, and does not repeat what is in it.
  static void expect_refused(const std::string& path, base::Code code) {
    const auto key = read_key_file(path);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, code) << key.error().message();
    EXPECT_NE(key.error().message().find(path), std::string::npos);
    EXPECT_EQ(key.error().message().find("aaaa"), std::string::npos);
  }

  const TestDirectory directory_;
};

TEST_F(KeyFile, WhatWasMadeIsRead) {
  SeededRandom random(1);
  SeededRandom same(1);
  const std::string path = directory_.path("key");
  const mode_t mask = ::umask(0);
  ASSERT_TRUE(make_key_file(path, random));
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  const auto key = read_key_file(path);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->prove("p", {}), SecretKey::draw(same).prove("p", {}));
  EXPECT_EQ(make_key_file(path, random).error().errno_value, EEXIST);
  EXPECT_EQ(read_key_file(path)->prove("p", {}), key->prove("p", {}));
}

TEST_F(KeyFile, DigitsWithAndWithoutALineEnd) {
  for (const std::string end : {"", "\n", "\r\n"}) EXPECT_TRUE(read_key_file(file(kDigits + end)));
  EXPECT_TRUE(read_key_file(file(kDigits, 0400)));
}

TEST_F(KeyFile, OtherContentsAreRefused) {
  for (const std::string& text : {std::string(), kDigits.substr(1), kDigits + "a", kDigits + "\n\n",
                                  kDigits + "\n" + kDigits, "x" + kDigits.substr(1)}) {
    expect_refused(file(text), base::Code::kInvalid);
  }
}

TEST_F(KeyFile, AKeyThatOthersReachIsRefused) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    expect_refused(file(kDigits, mode), base::Code::kDenied);
  }
  const std::string pipe = directory_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, base::Code::kDenied);
  expect_refused(directory_.path(""), base::Code::kDenied);
  expect_refused(directory_.path("none"), base::Code::kNotFound);
}

TEST_F(KeyFile, AnothersKeyIsRefused) {
  const std::string path = file(kDigits);
  ASSERT_TRUE(read_key_file(path));
  // Only root can give a file away; for others any file of root's that they can read will do.
  const bool given = ::chown(path.c_str(), 12345, 12345) == 0;
  expect_refused(given ? path : "/etc/hostname", base::Code::kDenied);
}

}  // namespace
}  // namespace tessera::port
