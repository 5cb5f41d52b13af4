#include "tessera/port/file_mapping.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>

#include "tessera/port/quiet_thread.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

class Mapping : public testing::Test {
 protected:
  void SetUp() override {
    file_ = PlainFile::open(directory_.path("file"), {.read = true, .write = true, .create = true})
                .value();
    base::Bytes contents(20'000);
    for (size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::byte>(i % 251);
    ASSERT_TRUE(file_->write_at(0, contents));
  }

  TestDirectory directory_;
  std::unique_ptr<PlainFile> file_;
};

TEST_F(Mapping, ShowsTheBytesOfTheFile) {
  for (const int64_t begin : {0, 1, 4095, 4096, 12'345}) {
    const auto mapping = FileMapping::map(*file_, begin, 20'000, Access::kRead).value();
    EXPECT_EQ(mapping.begin(), begin);
    std::byte first{};
    std::byte last{};
    EXPECT_TRUE(mapping.touch([&] {
      first = mapping.data()[0];
      last = mapping.data()[19'999 - begin];
    }));
    EXPECT_EQ(first, static_cast<std::byte>(begin % 251));
    EXPECT_EQ(last, static_cast<std::byte>(19'999 % 251));
  }
}

TEST_F(Mapping, StoresReachTheFile) {
  {
    const auto mapping = FileMapping::map(*file_, 5000, 6000, Access::kReadWrite).value();
    EXPECT_TRUE(mapping.touch([&] { std::memset(mapping.data() + 10, 0xff, 3); }));
  }
  base::Bytes around(5);
  ASSERT_TRUE(file_->read_at(5009, around));
  const base::Bytes expected = {std::byte{5009 % 251}, std::byte{0xff}, std::byte{0xff},
                                std::byte{0xff}, std::byte{5013 % 251}};
  EXPECT_EQ(around, expected);
}

TEST_F(Mapping, BytesThatAreGoneAreAnAnswer) {
  const auto mapping = FileMapping::map(*file_, 0, 20'000, Access::kReadWrite).value();
  ASSERT_TRUE(file_->truncate(4096));
  EXPECT_TRUE(mapping.touch([&] { mapping.data()[4095] = std::byte{1}; }));
  EXPECT_FALSE(mapping.is_lost());
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(mapping.touch([&] { mapping.data()[4096] = std::byte{1}; }));
    EXPECT_TRUE(mapping.is_lost());
  }
  // What was stored before is there, and the file is as long as it was cut.
  std::byte byte{};
  ASSERT_TRUE(file_->read_at(4095, {&byte, 1}));
  EXPECT_EQ(byte, std::byte{1});
  EXPECT_EQ(file_->size().value(), 4096);
}

TEST_F(Mapping, BytesThatAreGoneAreAnAnswerInThreadsOfOursToo) {
  const auto mapping = FileMapping::map(*file_, 0, 20'000, Access::kReadWrite).value();
  ASSERT_TRUE(file_->truncate(4096));
  bool touched = true;
  QuietThread thread(
      [&] { touched = mapping.touch([&] { mapping.data()[4096] = std::byte{1}; }); });
  ASSERT_TRUE(thread.running());
  thread.join();
  EXPECT_FALSE(touched);
}

TEST_F(Mapping, LoadsAndStores) {
  const auto mapping = FileMapping::map(*file_, 5000, 6000, Access::kReadWrite).value();
  base::Bytes bytes(1000);
  EXPECT_TRUE(mapping.load(5000, bytes));
  EXPECT_EQ(bytes.front(), std::byte{5000 % 251});
  EXPECT_EQ(bytes.back(), static_cast<std::byte>(5999 % 251));
  EXPECT_TRUE(mapping.store(5999, base::ByteView(bytes).first(1)));
  EXPECT_TRUE(mapping.load(5999, std::span(bytes).last(1)));
  EXPECT_EQ(bytes.back(), std::byte{5000 % 251});
  ASSERT_TRUE(file_->truncate(0));
  for (int round = 0; round < 200; ++round) {
    EXPECT_FALSE(mapping.load(5000, bytes));
    EXPECT_FALSE(mapping.store(5000, bytes));
  }
}

TEST_F(Mapping, WorksBesideAHandlerThatComesLater) {
  const auto mapping = FileMapping::map(*file_, 0, 20'000, Access::kRead).value();
  ASSERT_TRUE(file_->truncate(0));
  const auto touched = [&] {
    return mapping.touch(
        [&] { static_cast<void>(*const_cast<volatile std::byte*>(mapping.data())); });
  };
  EXPECT_FALSE(touched());
  const auto before = ::signal(SIGBUS, [](int) { ::_exit(7); });
  EXPECT_FALSE(touched());
  ::signal(SIGBUS, before);
}

TEST_F(Mapping, OtherFaultsGoWhereTheyWent) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto fault = [this](bool with_handler) {
    directory_.remove();
    if (with_handler) ::signal(SIGBUS, [](int) { ::_exit(7); });
    const auto mapping = FileMapping::map(*file_, 0, 20'000, Access::kRead).value();
    static_cast<void>(mapping.touch([] {}));
    static_cast<void>(file_->truncate(0));
    static_cast<void>(*const_cast<volatile std::byte*>(mapping.data()));
  };
  EXPECT_EXIT(fault(true), testing::ExitedWithCode(7), "");
  EXPECT_DEATH(fault(false), "");
}

TEST_F(Mapping, NeedsTheAccessOfTheFile) {
  const auto reader = PlainFile::open(directory_.path("file"), {.read = true}).value();
  const auto writer =
      PlainFile::open(directory_.path("file"), {.read = false, .write = true}).value();
  EXPECT_TRUE(FileMapping::map(*reader, 0, 10, Access::kRead));
  EXPECT_EQ(FileMapping::map(*reader, 0, 10, Access::kReadWrite).error().errno_value, EACCES);
  EXPECT_EQ(FileMapping::map(*writer, 0, 10, Access::kReadWrite).error().errno_value, EACCES);
}

}  // namespace
}  // namespace tessera::port
