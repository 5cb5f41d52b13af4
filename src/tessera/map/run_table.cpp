#include "tessera/map/run_table.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::map {

namespace {

using Chunk = std::vector<MappedRun>;

// The first run of a chunk that begins after a byte.
size_t index_after(const Chunk& chunk, int64_t byte) {
  const auto after =
      std::upper_bound(chunk.begin(), chunk.end(), byte,
                       [](int64_t value, const MappedRun& run) { return value < run.begin; });
  return static_cast<size_t>(after - chunk.begin());
}

std::ptrdiff_t offset(size_t index) { return static_cast<std::ptrdiff_t>(index); }

}  // namespace

RunTable::RunTable(const std::vector<MappedRun>& runs) {
  for (const MappedRun& run : runs) {
    TESSERA_ASSERT(run.length > 0 && run.begin >= end());
    if (!empty() && chunks_.back().back().continued_by(run)) {
      chunks_.back().back().length += run.length;
      continue;
    }
    if (empty() || chunks_.back().size() == kChunkRuns) {
      chunks_.emplace_back().reserve(std::min(kChunkRuns, runs.size()));
      begins_.push_back(run.begin);
    }
    chunks_.back().push_back(run);
    ++size_;
  }
}

int64_t RunTable::memory_bytes() const {
  size_t bytes = chunks_.capacity() * sizeof(Chunk) + begins_.capacity() * sizeof(int64_t);
  for (const Chunk& chunk : chunks_) bytes += chunk.capacity() * sizeof(MappedRun);
  return static_cast<int64_t>(bytes);
}

size_t RunTable::chunk_of(int64_t byte) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), byte);
  return after == begins_.begin() ? 0 : static_cast<size_t>(after - begins_.begin()) - 1;
}

RunTable::Position RunTable::first_ending_after(int64_t byte) const {
  if (empty()) return {};
  const size_t chunk = chunk_of(byte);
  const size_t after = index_after(chunks_[chunk], byte);
  if (after > 0 && chunks_[chunk][after - 1].end() > byte) return {chunk, after - 1};
  return after < chunks_[chunk].size() ? Position{chunk, after} : Position{chunk + 1, 0};
}

void RunTable::insert(MappedRun run) {
  TESSERA_ASSERT(run.length > 0);
  if (empty()) {
    chunks_.push_back({run});
    begins_.push_back(run.begin);
    size_ = 1;
    return;
  }
  const size_t chunk = chunk_of(run.begin);
  const size_t index = index_after(chunks_[chunk], run.begin);
  const Position behind =
      index < chunks_[chunk].size() ? Position{chunk, index} : Position{chunk + 1, 0};
  TESSERA_ASSERT(is_end(behind) || run.end() <= (*this)[behind].begin);
  if (!is_end(behind) && run.continued_by((*this)[behind])) {
    run.length += (*this)[behind].length;
    erase_at(behind);
    return insert(run);
  }
  if (index > 0) {
    MappedRun& before = chunks_[chunk][index - 1];
    TESSERA_ASSERT(before.end() <= run.begin);
    if (before.continued_by(run)) {
      before.length += run.length;
      return;
    }
  }
  const Position at = make_room({chunk, index});
  Chunk& target = chunks_[at.chunk];
  target.insert(target.begin() + offset(at.index), run);
  begins_[at.chunk] = target.front().begin;
  ++size_;
}

RunTable::Position RunTable::make_room(Position at) {
  Chunk& full = chunks_[at.chunk];
  if (full.size() < kChunkRuns) return at;
  // What grows at its end fills its chunks; elsewhere a chunk is halved.
  const bool grows = at.chunk + 1 == chunks_.size() && at.index == full.size();
  const size_t kept = grows ? full.size() : full.size() / 2;
  Chunk upper(full.begin() + offset(kept), full.end());
  full.resize(kept);
  begins_.insert(begins_.begin() + offset(at.chunk + 1), upper.empty() ? 0 : upper.front().begin);
  chunks_.insert(chunks_.begin() + offset(at.chunk + 1), std::move(upper));
  return grows || at.index > kept ? Position{at.chunk + 1, at.index - kept} : at;
}

void RunTable::erase(int64_t begin) {
  const Position at = first_ending_after(begin);
  TESSERA_ASSERT(!is_end(at) && (*this)[at].begin == begin);
  erase_at(at);
}

void RunTable::erase_at(Position at) {
  Chunk& chunk = chunks_[at.chunk];
  chunk.erase(chunk.begin() + offset(at.index));
  --size_;
  if (chunk.empty()) return drop_chunk(at.chunk);
  begins_[at.chunk] = chunk.front().begin;
  join_small(at.chunk);
  if (at.chunk > 0) join_small(at.chunk - 1);
}

// A chunk and the one behind it become one if that is still far from full.
void RunTable::join_small(size_t chunk) {
  if (chunk + 1 >= chunks_.size()) return;
  const Chunk& next = chunks_[chunk + 1];
  if (chunks_[chunk].size() + next.size() > kChunkRuns / 2) return;
  chunks_[chunk].insert(chunks_[chunk].end(), next.begin(), next.end());
  drop_chunk(chunk + 1);
}

void RunTable::drop_chunk(size_t chunk) {
  chunks_.erase(chunks_.begin() + offset(chunk));
  begins_.erase(begins_.begin() + offset(chunk));
}

}  // namespace tessera::map
