// What tests of remapping share: random views of small files, and the bytes that must come out.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tessera/container/block_reader.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/container.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/pattern/model_test_support.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/remap/plan.hpp"

namespace tessera::remap::test {

using pattern::Pattern;
using pattern::model::Engine;
using pattern::model::uniform;

inline constexpr int64_t kBlock = 512;

inline std::string random_text(Engine& engine, int64_t size) {
  std::string text(static_cast<size_t>(size), '\0');
  for (char& letter : text) letter = static_cast<char>('a' + uniform(engine, 0, 25));
  return text;
}

// Blocks, cyclic records, columns of rows, and irregular lists; some leave the file.
inline ByteSet random_view(Engine& engine, int64_t size) {
  const int64_t begin = uniform(engine, 0, size);
  switch (uniform(engine, 0, 3)) {
    case 0:
      return ByteSet::of({begin, begin + uniform(engine, 0, size)}).value();
    case 1: {
      const int64_t length = uniform(engine, 1, 40);
      const auto run = Pattern::run({{begin % 100}}, length).value();
      const int64_t stride = length + uniform(engine, 1, 60);
      return ByteSet::of(repeat(run, uniform(engine, 1, size / 16 + 1), {{stride}}).value())
          .value()
          .within({0, size + 10});
    }
    case 2: {
      const auto run = Pattern::run({{begin % 30}}, uniform(engine, 1, 8)).value();
      const auto row = repeat(run, uniform(engine, 1, 6), {{10}}).value();
      return ByteSet::of(repeat(row, uniform(engine, 1, size / 64 + 1), {{100}}).value()).value();
    }
    default: {
      pattern::Assembler<1> list;
      int64_t at = uniform(engine, 0, 50);
      while (at < size && uniform(engine, 0, 40) > 0) {
        const int64_t length = uniform(engine, 1, 70);
        list.append_run({{at}}, length);
        at += length + uniform(engine, 1, 150);
      }
      return ByteSet::of_ascending(list.finish().value());
    }
  }
}

inline std::vector<Consumer> random_consumers(Engine& engine, int64_t size) {
  std::vector<Consumer> consumers;
  for (int64_t i = uniform(engine, 0, 6); i > 0; --i) {
    consumers.push_back({static_cast<int32_t>(consumers.size()) * 3, random_view(engine, size)});
  }
  return consumers;
}

// The bytes of a set of a text, in file order.
inline std::string packed(const std::string& text, const ByteSet& set) {
  std::string result(static_cast<size_t>(set.size()), '\0');
  pattern::gather(reinterpret_cast<std::byte*>(result.data()),
                  reinterpret_cast<const std::byte*>(text.data()), set.ascending());
  return result;
}

// The bytes of a part as they lie in the container.
inline std::string read_part(port::File& file, const container::Contents& contents,
                             const map::Part& part) {
  container::BlockReader reader(file, {contents.block_bytes, true, {}});
  base::Bytes bytes(static_cast<size_t>(part.places.size()));
  const auto read = reader.read_places(*contents.find(part.allocation), part.places, bytes);
  EXPECT_TRUE(read) << read.error().message();
  return std::string(base::text_of(bytes));
}

inline void write_text(port::Disk& disk, const std::string& path, const std::string& text) {
  const auto file = disk.create(path).value();
  ASSERT_TRUE(file->write_at(0, base::bytes_of(text)));
  ASSERT_TRUE(file->sync());
}

// An object file that holds the bytes of `text` below its size. After a fault one superblock may be
// bad, while the other serves.
inline void expect_bytes(port::File& file, const std::string& text, bool after_fault = false) {
  const auto report = container::check(file);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->sound()) << report->findings.front();
  EXPECT_TRUE(report->flawless() || after_fault) << report->repairable.front();
  auto opened = container::Container::open(file);
  ASSERT_TRUE(opened) << opened.error().message();
  const container::Contents contents = opened->read_contents().value();
  ASSERT_EQ(contents.size, std::ssize(text));
  std::string found(text.size(), '\0');
  const auto parts = contents.map.find(ByteSet::of({0, contents.size}).value()).value().parts;
  for (const map::Part& part : parts) {
    const std::string bytes = read_part(file, contents, part);
    pattern::scatter(reinterpret_cast<std::byte*>(found.data()),
                     reinterpret_cast<const std::byte*>(bytes.data()), part.bytes.ascending());
  }
  EXPECT_EQ(found, text);
}

}  // namespace tessera::remap::test
