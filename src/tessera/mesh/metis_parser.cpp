#include "tessera/mesh/metis_parser.hpp"

#include <algorithm>
#include <string>

namespace tessera::mesh {

namespace {

// Spreads an edge over 64 bits, so that sums of different edges differ.
uint64_t scrambled(int64_t low, int64_t high) {
  uint64_t word = static_cast<uint64_t>(low) << 32 ^ static_cast<uint64_t>(high);
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

std::string so_many(int64_t done, int64_t announced) {
  return std::to_string(done) + " of the " + std::to_string(announced);
}

}  // namespace

void MetisParser::skip_comments() {
  while (in_.sees("%")) in_.skip_line();
}

// Whether there is a line; fails where the header announced one that is not there.
bool MetisParser::begin_line(const char* what, int64_t done, int64_t announced) {
  skip_comments();
  if (in_.ok() && !in_.has_more()) {
    in_.fail("the file ends after " + so_many(done, announced) + " " + what +
             " that its first line announces");
  }
  line_number_ = in_.line();
  return in_.ok();
}

void MetisParser::skip_weights(int64_t count) {
  for (int64_t i = 0; i < count && in_.ok(); ++i) {
    (void)in_.checked_count(in_.line_integer("a weight"), "a weight");
  }
}

// Only comments and white space may follow.
void MetisParser::finish() {
  in_.set_place("");
  for (skip_comments(); !in_.at_end(); skip_comments()) {
    if (in_.sees("%")) continue;
    return in_.fail("the file goes on behind the last line that its first line announces");
  }
}

// The next node of a line, from 1 to `count`.
void MetisParser::read_node(int64_t count) {
  if (!new_number_.empty()) count = std::min(count, std::ssize(new_number_));
  const int64_t number = in_.text_integer("the number of a node");
  if (!in_.ok()) return;
  if (number > count) {
    return in_.fail("node " + std::to_string(number) + "; " + std::to_string(count) +
                    " is the most");
  }
  if (number < 1) return in_.fail("node " + std::to_string(number) + "; nodes begin at 1");
  line_.push_back(static_cast<Node>(number - 1));
  if (!new_number_.empty()) {
    in_.replace(new_number_[static_cast<size_t>(number - 1)] + int64_t{1});
  }
}

void MetisParser::mesh(const Line& element) {
  skip_comments();
  const int64_t elements = in_.text_count("the number of elements");
  const int64_t weights = in_.on_line() ? in_.text_count("the number of weights") : 0;
  in_.end_line();
  for (int64_t i = 0; i < elements && begin_line("elements", i, elements); ++i) {
    skip_weights(weights);
    line_.clear();
    while (in_.ok() && in_.on_line()) {
      read_node(kMaxNodes);
      if (std::ssize(line_) > kMaxElementNodes) {
        in_.fail("an element of more than " + std::to_string(kMaxElementNodes) + " nodes");
      }
    }
    if (in_.ok() && line_.empty()) return in_.fail("an element without nodes");
    in_.end_line();
    if (in_.ok()) element(line_);
  }
  finish();
}

// Three digits: sizes, weights of nodes, weights of edges; and how many weights a node has.
void MetisParser::read_weights_format(GraphHeader& header) {
  std::string digits(in_.on_line() ? in_.word("the format") : "0");
  const bool known = digits.size() <= 3 && digits.find_first_not_of("01") == std::string::npos;
  if (!known) return in_.fail(quoted(digits) + " is not a format of weights (000 to 111)");
  digits.insert(0, 3 - digits.size(), '0');
  const int64_t weights = in_.on_line() ? in_.text_count("the number of weights") : 1;
  if (weights > in_.size_bytes()) {
    return in_.fail(std::to_string(weights) + " weights of a node are announced, in a file of " +
                    std::to_string(in_.size_bytes()) + " bytes");
  }
  header.numbers = (digits[0] == '1' ? 1 : 0) + (digits[1] == '1' ? weights : 0);
  header.edge_weights = digits[2] == '1';
}

MetisParser::GraphHeader MetisParser::graph_header() {
  GraphHeader header;
  skip_comments();
  header.nodes = in_.text_count("the number of nodes");
  header.edges = in_.checked_count(in_.line_integer("the number of edges"), "the number of edges");
  read_weights_format(header);
  if (header.nodes > kMaxNodes) {
    in_.fail(std::to_string(header.nodes) + " nodes are announced; " + std::to_string(kMaxNodes) +
             " is the most");
  }
  if (header.nodes > in_.size_bytes()) {
    in_.fail(std::to_string(header.nodes) + " nodes are announced, in a file of " +
             std::to_string(in_.size_bytes()) + " bytes");
  }
  if (header.nodes == 0) in_.fail("there are no nodes");
  in_.end_line();
  return header;
}

void MetisParser::check_neighbour(int64_t node, int64_t neighbour) {
  if (node == neighbour) {
    return in_.fail("node " + std::to_string(node + 1) + " is in its own list");
  }
  const uint64_t edge = scrambled(std::min(node, neighbour), std::max(node, neighbour));
  balance_ += node < neighbour ? edge : -edge;
}

void MetisParser::read_neighbours(int64_t node, const GraphHeader& header) {
  line_.clear();
  while (in_.ok() && in_.on_line()) {
    read_node(header.nodes);
    if (in_.ok()) check_neighbour(node, line_.back());
    skip_weights(header.edge_weights ? 1 : 0);
  }
}

void MetisParser::graph(const std::function<void(int64_t)>& header_seen, const Line& neighbours) {
  const GraphHeader header = graph_header();
  if (!in_.ok()) return;
  header_seen(header.nodes);
  int64_t entries = 0;
  for (int64_t node = 0; node < header.nodes && begin_line("nodes", node, header.nodes); ++node) {
    skip_weights(header.numbers);
    read_neighbours(node, header);
    in_.end_line();
    entries += std::ssize(line_);
    if (in_.ok()) neighbours(line_);
  }
  finish();
  if (in_.ok() && (entries % 2 != 0 || entries / 2 != header.edges)) {
    in_.fail("the lists have " + std::to_string(entries) + " entries, where " +
             std::to_string(header.edges) + " edges are announced, each in two lists");
  }
  one_sided_ = in_.ok() && balance_ != 0;
  if (one_sided_) in_.fail("an edge is in the list of one of its nodes only");
}

}  // namespace tessera::mesh
