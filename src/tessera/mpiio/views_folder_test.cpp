#include "tessera/mpiio/views_folder.hpp"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::mpiio {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string put(const std::string& folder, const std::string& begin, const std::string& rest) {
  const auto path = put_text(folder, {"data", begin, begin + rest});
  EXPECT_TRUE(path) << path.error().message();
  return path ? std::filesystem::path(*path).filename().string() : "";
}

size_t entries(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST(ViewsFolder, FilesOfOneNameGetNumbers) {
  const port::TestDirectory directory;
  const std::string folder = directory.path("made/here");
  EXPECT_EQ(put(folder, "a,", "1"), "data.views.json");
  EXPECT_EQ(put(folder, "b,", "2"), "data.2.views.json");
  EXPECT_EQ(put(folder, "c,", "3"), "data.3.views.json");
  EXPECT_EQ(put(folder, "b,", "4"), "data.2.views.json") << "the record of the same file";
  EXPECT_EQ(put(folder, "a,", "5"), "data.views.json");
  EXPECT_EQ(content_of(folder + "/data.views.json"), "a,5");
  EXPECT_EQ(content_of(folder + "/data.2.views.json"), "b,4");
  EXPECT_EQ(entries(folder), 3U) << "nothing else is left";
}

TEST(ViewsFolder, WhatIsShorterOrNoFileIsAnother) {
  const port::TestDirectory directory;
  std::ofstream(directory.path("data.views.json")) << "a";
  std::filesystem::create_directory(directory.path("data.2.views.json"));
  EXPECT_EQ(put(directory.path(""), "a,", "1"), "data.3.views.json");
  EXPECT_EQ(content_of(directory.path("data.views.json")), "a");
}

TEST(ViewsFolder, AFailureLeavesNothing) {
  const port::TestDirectory directory;
  const std::string blocked = directory.path("file");
  std::ofstream(blocked) << "x";
  EXPECT_FALSE(put_text(blocked, {"data", "a,", "a,1"}));
  EXPECT_FALSE(put_text(blocked + "/below", {"data", "a,", "a,1"}));
  EXPECT_FALSE(put_text(directory.path(""), {std::string(300, 'n'), "a,", "a,1"})) << "a long name";
  EXPECT_EQ(entries(directory.path("")), 1U);
}

// Whoever is killed leaves no other name: there is none at any time.
TEST(ViewsFolder, NoOtherNameIsThereMeanwhile) {
  const port::TestDirectory directory;
  const port::Descriptor events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(
      ::inotify_add_watch(events.number(), directory.path("").c_str(), IN_CREATE | IN_MOVED_TO), 0);
  EXPECT_EQ(put(directory.path(""), "a,", "1"), "data.views.json");
  alignas(inotify_event) std::array<char, 4096> buffer{};
  const ssize_t got = ::read(events.number(), buffer.data(), buffer.size());
  std::vector<std::string> names;
  for (ssize_t at = 0; at < got;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
    names.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  EXPECT_EQ(names, std::vector<std::string>{"data.views.json"});
}

TEST(ViewsFolder, WritersOfDifferentFilesAtOnceEachGetAName) {
  const port::TestDirectory directory;
  constexpr size_t kWriters = 4;
  constexpr int kFiles = 20;
  std::vector<std::vector<std::string>> names(kWriters);
  port::run_ranks(kWriters, [&](port::Exchange& exchange) {
    const auto writer = static_cast<size_t>(exchange.rank());
    for (int file = 0; file < kFiles; ++file) {
      const std::string begin = std::to_string(writer) + "/" + std::to_string(file) + ",";
      names[writer].push_back(put(directory.path(""), begin, "text"));
    }
  });
  EXPECT_EQ(entries(directory.path("")), kWriters * kFiles);
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t file = 0; file < names[writer].size(); ++file) {
      EXPECT_EQ(content_of(directory.path("") + names[writer][file]),
                std::to_string(writer) + "/" + std::to_string(file) + ",text");
    }
  }
}

}  // namespace
}  // namespace tessera::mpiio
