#include "tessera/mesh/renumber.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/file_sink.hpp"
#include "tessera/mesh/gmsh_parser.hpp"
#include "tessera/mesh/mesh_file.hpp"
#include "tessera/mesh/metis_parser.hpp"

namespace tessera::mesh {

using base::Result;

namespace {

// Takes a mesh for the sake of its checks.
class Nobody final : public MeshVisitor {
 public:
  void nodes(int64_t /*count*/, std::vector<Position> /*positions*/) override {}
  void element(std::span<const Node> /*nodes*/) override {}
};

class TextSink final : public EchoSink {
 public:
  void append(std::string_view bytes) override { text += bytes; }
  std::string text;
};

Result<void> check_count(const port::File& file, int64_t nodes, std::span<const Node> new_number) {
  if (nodes == std::ssize(new_number)) return {};
  return base::fail(base::Code::kInvalid, file.path() + ": a mesh of " + std::to_string(nodes) +
                                              " nodes, but there are new numbers for " +
                                              std::to_string(new_number.size()));
}

bool is_permutation(std::span<const Node> numbers) {
  std::vector<bool> seen(numbers.size());
  for (const Node number : numbers) {
    if (number < 0 || number >= std::ssize(numbers)) return false;
    if (seen[static_cast<size_t>(number)]) return false;
    seen[static_cast<size_t>(number)] = true;
  }
  return true;
}

Result<void> renumber_gmsh(port::File& from, port::File& to, std::span<const Node> new_number) {
  NodeTags tags;
  MeshScanner in(from);
  Nobody nobody;
  GmshParser(in, tags).read(nobody);
  if (!in.ok()) return base::Failure{in.error()};
  TESSERA_TRY_VOID(check_count(from, tags.nodes(), new_number));
  FileSink sink(to);
  MeshScanner again(from, &sink);
  GmshParser(again, tags).rewrite(new_number);
  if (!again.ok()) return base::Failure{again.error()};
  return sink.finish();
}

Result<void> renumber_metis_mesh(port::File& from, port::File& to,
                                 std::span<const Node> new_number) {
  FileSink sink(to);
  MeshScanner in(from, &sink);
  // A mesh has as many nodes as the largest number that it names.
  const auto last = std::max_element(new_number.begin(), new_number.end()) - new_number.begin();
  bool last_named = false;
  MetisParser(in, new_number).mesh([&](std::span<const Node> corners) {
    last_named = last_named || std::find(corners.begin(), corners.end(), last) != corners.end();
  });
  if (!in.ok()) return base::Failure{in.error()};
  if (!last_named) {
    return base::fail(base::Code::kInvalid, from.path() + ": node " + std::to_string(last + 1) +
                                                " is in no element: as the last it would be lost");
  }
  in.flush_echo();
  return sink.finish();
}

// The lines of a graph: the header, one for each node, and what follows them.
struct GraphLines {
  std::string text;
  std::vector<size_t> begins;  // of each node's line, and of what follows the last

  [[nodiscard]] std::string_view of(size_t node) const {
    return std::string_view(text).substr(begins[node], begins[node + 1] - begins[node]);
  }
};

Result<GraphLines> renumbered_lines(port::File& from, std::span<const Node> new_number) {
  TextSink sink;
  MeshScanner in(from, &sink);
  GraphLines lines;
  const auto cut = [&] {
    in.flush_echo();
    // Only the last line of a file may lack its end.
    if (!sink.text.ends_with('\n')) sink.text += '\n';
    lines.begins.push_back(sink.text.size());
  };
  MetisParser(in, new_number)
      .graph([&](int64_t /*nodes*/) { cut(); },
             [&](std::span<const Node> /*neighbours*/) { cut(); });
  in.flush_echo();
  if (!in.ok()) return base::Failure{in.error()};
  lines.text = std::move(sink.text);
  return lines;
}

Result<void> renumber_metis_graph(port::File& from, port::File& to,
                                  std::span<const Node> new_number) {
  TESSERA_TRY(const GraphLines lines, renumbered_lines(from, new_number));
  TESSERA_TRY_VOID(check_count(from, std::ssize(lines.begins) - 1, new_number));
  std::vector<size_t> old_number(new_number.size());
  for (size_t i = 0; i < new_number.size(); ++i) {
    old_number[static_cast<size_t>(new_number[i])] = i;
  }
  FileSink sink(to);
  sink.append(std::string_view(lines.text).substr(0, lines.begins.front()));
  for (const size_t old : old_number) sink.append(lines.of(old));
  sink.append(std::string_view(lines.text).substr(lines.begins.back()));
  return sink.finish();
}

Result<void> renumber_metis(port::File& from, port::File& to, std::span<const Node> new_number) {
  Nobody nobody;
  TESSERA_TRY(const MeshFacts facts, visit_mesh(from, nobody));
  TESSERA_TRY_VOID(check_count(from, facts.nodes, new_number));
  return facts.format == MeshFormat::kMetisMesh ? renumber_metis_mesh(from, to, new_number)
                                                : renumber_metis_graph(from, to, new_number);
}

}  // namespace

Result<void> write_renumbered(port::File& from, port::File& to, std::span<const Node> new_number) {
  TESSERA_ASSERT(is_permutation(new_number));
  TESSERA_TRY(const MeshFormat format, detect_format(from));
  const bool metis = format == MeshFormat::kMetisMesh || format == MeshFormat::kMetisGraph;
  return metis ? renumber_metis(from, to, new_number) : renumber_gmsh(from, to, new_number);
}

}  // namespace tessera::mesh
