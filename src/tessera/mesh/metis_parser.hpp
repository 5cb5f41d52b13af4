// MetisParser: the lines of METIS's .mesh and .graph files.
//
// Both are text, with numbers from 1, comments in lines that begin with %, and a header that says
// how many lines follow. Failures are the scanner's. Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/mesh_scanner.hpp"

namespace tessera::mesh {

class MetisParser {
 public:
  // The nodes of an element, or the neighbours of the next node; valid during the call.
  using Line = std::function<void(std::span<const Node>)>;

  // With new numbers, every node's number is replaced, and nodes without one are a failure. The
  // scanner and the numbers must outlive it.
  explicit MetisParser(MeshScanner& in, std::span<const Node> new_number = {})
      : in_(in), new_number_(new_number) {}

  // One line for each element: weights, if the header says so, and at most kMaxElementNodes nodes.
  void mesh(const Line& element);

  // One line for each node: size and weights, if the header says so, then neighbours, each with a
  // weight if the header says so. `header_seen` is called with the number of nodes, which is at
  // most the number of bytes of the file. Fails at the end if the number of edges is not that of
  // the header, or an edge is in the list of one of its nodes only.
  void graph(const std::function<void(int64_t)>& header_seen, const Line& neighbours);
  // Whether that last was what failed.
  [[nodiscard]] bool one_sided() const { return one_sided_; }
  // In which line of the file the line that was told last began.
  [[nodiscard]] int64_t line() const { return line_number_; }

 private:
  struct GraphHeader {
    int64_t nodes = 0;
    int64_t edges = 0;
    int64_t numbers = 0;  // before the neighbours of a line: size and weights
    bool edge_weights = false;
  };

  void skip_comments();
  [[nodiscard]] bool begin_line(const char* what, int64_t done, int64_t announced);
  void skip_weights(int64_t count);
  void finish();
  void read_node(int64_t count);
  [[nodiscard]] GraphHeader graph_header();
  void read_weights_format(GraphHeader& header);
  void read_neighbours(int64_t node, const GraphHeader& header);
  void check_neighbour(int64_t node, int64_t neighbour);

  MeshScanner& in_;
  std::span<const Node> new_number_;
  std::vector<Node> line_;
  int64_t line_number_ = 0;
  uint64_t balance_ = 0;  // of lists in which each edge is, once for each direction: zero
  bool one_sided_ = false;
};

}  // namespace tessera::mesh
