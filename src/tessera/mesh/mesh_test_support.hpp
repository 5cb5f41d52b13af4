// Meshes for tests: a plain model of a mesh file, and a writer of it in every variant of Gmsh's
// format that shares nothing with the reader.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/mesh/mesh_file.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/sim_disk.hpp"

namespace tessera::mesh {

struct SampleElement {
  int type = 0;
  std::vector<int64_t> tags;
};

// What is in a .msh file.
struct Sample {
  std::vector<int64_t> tags;  // of nodes, in the order of the file
  std::vector<Position> positions;
  std::vector<SampleElement> elements;
};

struct Variant {
  int version = 4;
  bool binary = false;
  bool foreign = false;  // the other byte order
  int size_bytes = 8;
};

// Every variant that is read.
inline std::vector<Variant> all_variants() {
  return {{2, false, false, 8}, {2, true, false, 8}, {2, true, true, 8}, {4, false, false, 8},
          {4, true, false, 8},  {4, true, true, 8},  {4, true, false, 4}};
}

class SampleWriter {
 public:
  explicit SampleWriter(const Variant& variant) : variant_(variant) {}

  [[nodiscard]] std::string write(const Sample& sample) {
    out_ = "$MeshFormat\n" + std::string(variant_.version == 2 ? "2.2 " : "4.1 ");
    out_ += (variant_.binary ? "1 " : "0 ") + std::to_string(variant_.size_bytes) + "\n";
    if (variant_.binary) raw(uint32_t{1}), out_ += "\n";
    out_ += "$EndMeshFormat\n$Nodes\n";
    variant_.version == 2 ? nodes_2(sample) : nodes_4(sample);
    out_ += "$EndNodes\n$Elements\n";
    variant_.version == 2 ? elements_2(sample) : elements_4(sample);
    return out_ + "$EndElements\n";
  }

 private:
  template <typename Word>
  void raw(Word word) {
    auto bytes = std::bit_cast<std::array<char, sizeof(Word)>>(word);
    if (variant_.foreign) std::reverse(bytes.begin(), bytes.end());
    out_.append(bytes.data(), bytes.size());
  }
  void text(const std::string& word) {
    if (!out_.ends_with('\n')) out_ += ' ';
    out_ += word;
  }
  void integer(int64_t number) {
    variant_.binary ? raw(static_cast<uint32_t>(number)) : text(std::to_string(number));
  }
  void size(int64_t number) {
    if (!variant_.binary) return text(std::to_string(number));
    variant_.size_bytes == 4 ? raw(static_cast<uint32_t>(number))
                             : raw(static_cast<uint64_t>(number));
  }
  void real(double number) {
    if (variant_.binary) return raw(std::bit_cast<uint64_t>(number));
    std::array<char, 32> digits;
    text({digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr});
  }
  // Of a line in text; of a section in both.
  void line() { out_ += variant_.binary ? "" : "\n"; }
  void section() { out_ += variant_.binary ? "\n" : ""; }

  void nodes_2(const Sample& sample) {
    out_ += std::to_string(sample.tags.size()) + "\n";
    for (size_t i = 0; i < sample.tags.size(); ++i) {
      integer(sample.tags[i]);
      for (const double x : sample.positions[i]) real(x);
      line();
    }
    section();
  }
  void elements_2(const Sample& sample) {
    out_ += std::to_string(sample.elements.size()) + "\n";
    int64_t tag = 0;
    for (const SampleElement& element : sample.elements) {
      if (variant_.binary) integer(element.type), integer(1), integer(2);
      integer(++tag);
      if (!variant_.binary) integer(element.type), integer(2);
      integer(99), integer(1);
      for (const int64_t corner : element.tags) integer(corner);
      line();
    }
    section();
  }
  // Blocks of up to three nodes, on entities of changing dimension, every other one parametric.
  void nodes_4(const Sample& sample) {
    const size_t nodes = sample.tags.size();
    size((static_cast<int64_t>(nodes) + 2) / 3), size(static_cast<int64_t>(nodes));
    size(1), size(static_cast<int64_t>(nodes)), line();
    for (size_t begin = 0; begin < nodes; begin += 3) {
      const size_t end = std::min(nodes, begin + 3);
      const int dimension = static_cast<int>(begin / 3 % 4);
      const int parametric = static_cast<int>(begin / 3 % 2);
      integer(dimension), integer(1), integer(parametric);
      size(static_cast<int64_t>(end - begin)), line();
      for (size_t i = begin; i < end; ++i) size(sample.tags[i]), line();
      for (size_t i = begin; i < end; ++i) {
        for (const double x : sample.positions[i]) real(x);
        for (int j = 0; j < parametric * dimension; ++j) real(0.5);
        line();
      }
    }
    section();
  }
  void elements_4(const Sample& sample) {
    const auto count = static_cast<int64_t>(sample.elements.size());
    size(count), size(count), size(1), size(count), line();
    int64_t tag = 0;
    for (const SampleElement& element : sample.elements) {
      integer(3), integer(1), integer(element.type), size(1), line();
      size(++tag);
      for (const int64_t corner : element.tags) size(corner);
      line();
    }
    section();
  }

  Variant variant_;
  std::string out_;
};

// A file in memory.
class TestFile {
 public:
  TestFile(const std::string& name, std::string_view content)
      : disk_(port::DiskImage{{{name, base::copy_of(base::bytes_of(content))}}, {}}),
        file_(disk_.open(name, port::Access::kReadWrite).value()) {}

  port::File& operator*() { return *file_; }
  port::SimDisk& disk() { return disk_; }
  [[nodiscard]] std::string content() const {
    return std::string(base::text_of(disk_.image().files.begin()->second));
  }

 private:
  port::SimDisk disk_;
  std::unique_ptr<port::File> file_;
};

// All that a visitor heard.
class Record final : public MeshVisitor {
 public:
  void nodes(int64_t count, std::vector<Position> given) override {
    count_of_nodes = count;
    positions = std::move(given);
  }
  void element(std::span<const Node> nodes) override {
    elements.emplace_back(nodes.begin(), nodes.end());
  }
  bool operator==(const Record& other) const {
    return count_of_nodes == other.count_of_nodes && positions == other.positions &&
           elements == other.elements;
  }

  int64_t count_of_nodes = 0;
  std::vector<Position> positions;
  std::vector<std::vector<Node>> elements;
};

inline std::vector<Node> random_permutation(port::Random& random, int64_t count) {
  std::vector<Node> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t other = random.uniform(i + 1);
    numbers[i] = numbers[other];
    numbers[other] = static_cast<Node>(i);
  }
  return numbers;
}

// Tags follow each other, or have gaps, or large ones, and lie in order or not; by chance. Those of
// version 2.2 have 32 bits.
inline Sample random_sample(port::Random& random, int64_t nodes) {
  Sample sample;
  const auto large = static_cast<uint64_t>(std::min<int64_t>(100'000, INT32_MAX / (nodes + 10)));
  const uint64_t gap = std::array<uint64_t, 4>{1, 1, 3, large}[random.uniform(4)];
  int64_t tag = random.chance(1, 2) ? 0 : static_cast<int64_t>(random.uniform(5));
  for (int64_t i = 0; i < nodes; ++i) {
    sample.tags.push_back(tag += 1 + static_cast<int64_t>(random.uniform(gap)));
    const auto coordinate = [&] { return static_cast<double>(random.uniform(1 << 30)) / 3e5 - 9; };
    sample.positions.push_back({coordinate(), coordinate(), coordinate()});
  }
  if (random.chance(1, 2)) {
    const std::vector<Node> order = random_permutation(random, nodes);
    std::vector<int64_t> tags;
    for (const Node node : order) tags.push_back(sample.tags[static_cast<size_t>(node)]);
    sample.tags = tags;
  }
  constexpr std::array<std::pair<int, size_t>, 6> kTypes = {
      {{15, 1}, {1, 2}, {2, 3}, {4, 4}, {5, 8}, {31, 56}}};
  for (uint64_t i = random.uniform(12); i > 0; --i) {
    const auto [type, corners] = kTypes[random.uniform(kTypes.size())];
    SampleElement element{type, {}};
    while (element.tags.size() < corners) {
      element.tags.push_back(sample.tags[random.uniform(sample.tags.size())]);
    }
    sample.elements.push_back(element);
  }
  return sample;
}

}  // namespace tessera::mesh
