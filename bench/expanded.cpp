#include "bench/expanded.hpp"

#include <algorithm>
#include <map>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::bench {

RunVector expanded(const pattern::Pattern& pattern) {
  RunVector runs;
  runs.reserve(static_cast<size_t>(pattern.runs()));
  for (const auto& piece : pattern::expand(pattern)) runs.push_back({piece.at[0], piece.length});
  return runs;
}

bool lists_overlap(const RunVector& a, const RunVector& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].begin + a[i].length <= b[j].begin) {
      ++i;
    } else if (b[j].begin + b[j].length <= a[i].begin) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

void join_lists(const RunVector& p, const RunVector& q, std::vector<JoinedRun>& out) {
  size_t i = 0;
  size_t j = 0;
  int64_t done_p = 0;
  int64_t done_q = 0;
  while (i < p.size() && j < q.size()) {
    const int64_t length = std::min(p[i].length - done_p, q[j].length - done_q);
    out.push_back({p[i].begin + done_p, q[j].begin + done_q, length});
    done_p += length;
    done_q += length;
    if (done_p == p[i].length) {
      ++i;
      done_p = 0;
    }
    if (done_q == q[j].length) {
      ++j;
      done_q = 0;
    }
  }
  TESSERA_ASSERT(i == p.size() && j == q.size());
}

namespace {

// Where a process's run begins or ends.
struct Edge {
  int64_t at = 0;
  int32_t process = 0;
  bool begins = false;
};

std::vector<Edge> sorted_edges(std::span<const RunVector> views) {
  std::vector<Edge> edges;
  for (size_t process = 0; process < views.size(); ++process) {
    for (const pattern::Run& run : views[process]) {
      edges.push_back({run.begin, static_cast<int32_t>(process), true});
      edges.push_back({run.begin + run.length, static_cast<int32_t>(process), false});
    }
  }
  // Ends before beginnings, so that a process may begin again where it ended.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at != b.at ? a.at < b.at : a.begins < b.begins;
  });
  return edges;
}

// One process more or less; the set stays sorted.
void toggle(std::vector<int32_t>& active, const Edge& edge) {
  const auto place = std::lower_bound(active.begin(), active.end(), edge.process);
  if (edge.begins) {
    active.insert(place, edge.process);
  } else {
    active.erase(place);
  }
}

}  // namespace

int64_t ListedObjects::memory_bytes() const {
  size_t bytes = objects.size() * sizeof(ListedObject);
  for (const auto& set : sharers) bytes += sizeof set + set.size() * sizeof(int32_t);
  return static_cast<int64_t>(bytes);
}

ListedObjects sweep_objects(std::span<const RunVector> views) {
  const std::vector<Edge> edges = sorted_edges(views);
  ListedObjects result;
  std::map<std::vector<int32_t>, int32_t> numbers;
  std::vector<int32_t> active;
  for (size_t i = 0; i < edges.size();) {
    const int64_t at = edges[i].at;
    for (; i < edges.size() && edges[i].at == at; ++i) toggle(active, edges[i]);
    if (active.empty() || i == edges.size()) continue;
    const auto next = static_cast<int32_t>(numbers.size());
    const int32_t number = numbers.try_emplace(active, next).first->second;
    auto& objects = result.objects;
    if (!objects.empty() && objects.back().end == at && objects.back().sharers == number) {
      objects.back().end = edges[i].at;
    } else {
      objects.push_back({at, edges[i].at, number});
    }
  }
  result.sharers.resize(numbers.size());
  for (const auto& [set, number] : numbers) result.sharers[static_cast<size_t>(number)] = set;
  return result;
}

}  // namespace tessera::bench
