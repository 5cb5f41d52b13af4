#include "tessera/mesh/mesh_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/mesh/gmsh_parser.hpp"
#include "tessera/mesh/metis_parser.hpp"

namespace tessera::mesh {

using base::Code;
using base::Result;

namespace {

base::Failure failure_of(const MeshScanner& in) { return base::Failure{in.error()}; }

// (R1) The nodes of a METIS mesh are those up to the largest that an element names, and there are
// no more of them than the elements name in all: else there surely are some in no element.
Result<int64_t> nodes_of_metis_mesh(port::File& file) {
  MeshScanner in(file);
  MetisParser parser(in);
  int64_t nodes = 0;
  int64_t line_of_last = 0;  // of the element that names the last node first
  int64_t named = 0;
  parser.mesh([&](std::span<const Node> corners) {
    const int64_t most = int64_t{*std::max_element(corners.begin(), corners.end())} + 1;
    if (most > nodes) line_of_last = parser.line();
    nodes = std::max(nodes, most);
    named += std::ssize(corners);
  });
  if (nodes == 0) in.fail("there are no elements");
  if (nodes > named) {
    in.fail_at(line_of_last, "node " + std::to_string(nodes) +
                                 " is named, but all elements name only " + std::to_string(named) +
                                 " nodes");
  }
  if (!in.ok()) return failure_of(in);
  return nodes;
}

Result<MeshFacts> visit_metis_mesh(port::File& file, MeshVisitor& visitor) {
  TESSERA_TRY(const int64_t nodes, nodes_of_metis_mesh(file));
  MeshFacts facts{MeshFormat::kMetisMesh, false, nodes, 0};
  visitor.nodes(nodes, {});
  MeshScanner in(file);
  MetisParser(in).mesh([&](std::span<const Node> corners) {
    // The file may have changed since it was read for the number of its nodes.
    if (*std::max_element(corners.begin(), corners.end()) >= nodes) {
      return in.fail("the file changed while it was read");
    }
    ++facts.elements;
    visitor.element(corners);
  });
  if (!in.ok()) return failure_of(in);
  return facts;
}

// Names an edge that is in one list only, for which all lists are needed at once.
base::Failure one_sided_edge(port::File& file) {
  MeshScanner in(file);
  std::vector<std::pair<Node, Node>> entries;
  std::vector<int64_t> line_of;  // by node
  MetisParser parser(in);
  parser.graph([](int64_t /*nodes*/) {},
               [&](std::span<const Node> neighbours) {
                 const auto node = static_cast<Node>(line_of.size());
                 for (const Node other : neighbours) entries.emplace_back(node, other);
                 line_of.push_back(parser.line());
               });
  std::sort(entries.begin(), entries.end());
  for (const auto& [from, to] : entries) {
    if (std::binary_search(entries.begin(), entries.end(), std::pair(to, from))) continue;
    const std::string a = std::to_string(from + int64_t{1});
    const std::string b = std::to_string(to + int64_t{1});
    const std::string line = std::to_string(line_of[static_cast<size_t>(from)]);
    return base::fail(Code::kInvalid, file.path() + ", line " + line + ": node " + a +
                                          " has node " + b + " in its list, but node " + b +
                                          " does not have node " + a);
  }
  return base::fail(Code::kInvalid, file.path() + ": edges are in the list of one node only");
}

Result<MeshFacts> visit_metis_graph(port::File& file, MeshVisitor& visitor) {
  MeshScanner in(file);
  MeshFacts facts{MeshFormat::kMetisGraph, false, 0, 0};
  Node node = 0;
  MetisParser parser(in);
  parser.graph(
      [&](int64_t nodes) {
        facts.nodes = nodes;
        visitor.nodes(nodes, {});
        visitor.dimension(1);
      },
      [&](std::span<const Node> neighbours) {
        for (const Node neighbour : neighbours) {
          if (neighbour < node) continue;
          ++facts.elements;
          visitor.element(std::array{node, neighbour});
        }
        ++node;
      });
  if (parser.one_sided()) return one_sided_edge(file);
  if (!in.ok()) return failure_of(in);
  return facts;
}

Result<MeshFacts> visit_gmsh(port::File& file, MeshVisitor& visitor) {
  MeshScanner in(file);
  NodeTags tags;
  GmshParser parser(in, tags);
  parser.read(visitor);
  if (!in.ok()) return failure_of(in);
  return parser.facts();
}

class Loader final : public TopVisitor {
 public:
  void nodes(int64_t count, std::vector<Position> positions) override {
    mesh_ = Mesh(count);
    mesh_.positions = std::move(positions);
  }
  [[nodiscard]] Mesh take() { return std::move(mesh_); }

 protected:
  void restart() override { nodes(mesh_.nodes(), std::move(mesh_.positions)); }
  void top_element(std::span<const Node> nodes) override { mesh_.add_element(nodes); }

 private:
  Mesh mesh_;
};

}  // namespace

const char* format_name(MeshFormat format) {
  switch (format) {
    case MeshFormat::kGmsh2:
      return "Gmsh 2.2";
    case MeshFormat::kGmsh4:
      return "Gmsh 4.1";
    case MeshFormat::kMetisMesh:
      return "METIS mesh";
    case MeshFormat::kMetisGraph:
      return "METIS graph";
  }
  return "";
}

Result<MeshFormat> detect_format(port::File& file) {
  MeshScanner in(file);
  if (in.has_more() && in.sees("$")) {
    NodeTags tags;
    GmshParser parser(in, tags);
    parser.read_format();
    if (!in.ok()) return failure_of(in);
    return parser.facts().format;
  }
  if (!in.ok()) return failure_of(in);
  if (file.path().ends_with(".mesh")) return MeshFormat::kMetisMesh;
  if (file.path().ends_with(".graph")) return MeshFormat::kMetisGraph;
  return base::fail(Code::kInvalid, file.path() +
                                        ": not a mesh: it does not begin with $MeshFormat as "
                                        "Gmsh's do, and is not called .mesh or .graph as METIS's");
}

Result<MeshFacts> visit_mesh(port::File& file, MeshVisitor& visitor) {
  TESSERA_TRY(const MeshFormat format, detect_format(file));
  switch (format) {
    case MeshFormat::kMetisMesh:
      return visit_metis_mesh(file, visitor);
    case MeshFormat::kMetisGraph:
      return visit_metis_graph(file, visitor);
    default:
      return visit_gmsh(file, visitor);
  }
}

void TopVisitor::dimension(int of_elements) {
  dimension_ = of_elements;
  if (of_elements <= highest_) return;
  highest_ = of_elements;
  restart();
}

void TopVisitor::element(std::span<const Node> nodes) {
  if (dimension_ == highest_) top_element(nodes);
}

Result<LoadedMesh> load_mesh(port::File& file) {
  Loader loader;
  TESSERA_TRY(const MeshFacts facts, visit_mesh(file, loader));
  return LoadedMesh{.facts = facts, .mesh = loader.take()};
}

}  // namespace tessera::mesh
