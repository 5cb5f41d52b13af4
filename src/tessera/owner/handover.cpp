#include "tessera/owner/handover.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::owner {

Handover::Handover(const Sharing& sharing, const Writers& writers)
    : sharing_(sharing), pieces_(pieces_of(sharing, writers)) {
  size_t amounts = 0;
  for (HoldersId list = 0; list < sharing.lists(); ++list) {
    begins_.push_back(amounts);
    amounts += sharing.holders(list).size();
  }
  to_give_.resize(amounts);
}

size_t Handover::slot(HoldersId list, Process process) const {
  const auto holders = sharing_.holders(list);
  const auto place = std::find(holders.begin(), holders.end(), process);
  TESSERA_ASSERT(place != holders.end());
  return begins_[static_cast<size_t>(list)] + static_cast<size_t>(place - holders.begin());
}

void Handover::reach(std::span<const int64_t> amounts) {
  TESSERA_ASSERT(amounts.size() == to_give_.size());
  std::fill(to_give_.begin(), to_give_.end(), 0);
  for (const Piece& piece : pieces_) to_give_[slot(piece.holders, piece.writer)] += piece.count;
  for (size_t i = 0; i < amounts.size(); ++i) to_give_[i] -= amounts[i];
  if (std::all_of(to_give_.begin(), to_give_.end(), [](int64_t n) { return n == 0; })) return;
  move_borders();
  turn_around();
  move_borders();
  turn_around();
  cut_rest();
}

// Lets the writer before each piece go on into it.
void Handover::move_borders() {
  std::vector<Piece> moved;
  moved.reserve(pieces_.size() + pieces_.size() / 8);
  for (Piece piece : pieces_) {
    int64_t& giving = to_give_[slot(piece.holders, piece.writer)];
    const bool border = !moved.empty() && !piece.behind_gap && moved.back().writer != piece.writer;
    if (border && giving > 0 && sharing_.holds(piece.holders, moved.back().writer)) {
      const Process taker = moved.back().writer;
      int64_t& getting = to_give_[slot(piece.holders, taker)];
      const int64_t count = std::min({giving, -getting, piece.count});
      if (count > 0) {
        giving -= count;
        getting += count;
        moved.push_back({count, piece.holders, taker, false});
        piece.count -= count;
      }
    }
    if (piece.count > 0) moved.push_back(piece);
  }
  pieces_ = std::move(moved);
}

// The last piece becomes the first, gaps staying where they are.
void Handover::turn_around() {
  std::reverse(pieces_.begin(), pieces_.end());
  bool gap = false;
  for (Piece& piece : pieces_) gap = std::exchange(piece.behind_gap, gap);
}

// Whether the items before a piece, or those behind it, have that writer.
bool Handover::follows(size_t piece, Process writer) const {
  return piece > 0 && !pieces_[piece].behind_gap && pieces_[piece - 1].writer == writer;
}

bool Handover::precedes(size_t piece, Process writer) const {
  return piece + 1 < pieces_.size() && !pieces_[piece + 1].behind_gap &&
         pieces_[piece + 1].writer == writer;
}

int Handover::neighbours_with(size_t piece, Process writer) const {
  return static_cast<int>(follows(piece, writer)) + static_cast<int>(precedes(piece, writer));
}

// Whole intervals first, then those at the end of one; the longest first.
std::vector<size_t> Handover::pieces_to_cut() const {
  struct Candidate {
    int neighbours = 0;
    int64_t count = 0;
    size_t piece = 0;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (to_give_[slot(pieces_[i].holders, pieces_[i].writer)] <= 0) continue;
    candidates.push_back({neighbours_with(i, pieces_[i].writer), pieces_[i].count, i});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.neighbours != b.neighbours) return a.neighbours < b.neighbours;
    return a.count != b.count ? a.count > b.count : a.piece < b.piece;
  });
  std::vector<size_t> order;
  order.reserve(candidates.size());
  for (const Candidate& candidate : candidates) order.push_back(candidate.piece);
  return order;
}

void Handover::cut_rest() {
  std::vector<Cut> cuts;
  for (const size_t piece : pieces_to_cut()) hand_out(piece, cuts);
  apply(std::move(cuts));
}

void Handover::hand_out(size_t index, std::vector<Cut>& cuts) {
  const Piece& piece = pieces_[index];
  int64_t& giving = to_give_[slot(piece.holders, piece.writer)];
  int64_t left = piece.count;
  for (const Process taker : sharing_.holders(piece.holders)) {
    if (giving <= 0 || left == 0) return;
    int64_t& getting = to_give_[slot(piece.holders, taker)];
    if (getting >= 0) continue;
    const int64_t count = std::min({giving, -getting, left});
    giving -= count;
    getting += count;
    left -= count;
    const bool inside_before = follows(index, piece.writer) && !precedes(index, piece.writer);
    cuts.push_back({index, count, taker, inside_before || precedes(index, taker)});
  }
}

void Handover::apply(std::vector<Cut> cuts) {
  if (cuts.empty()) return;
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.piece < b.piece; });
  std::vector<Piece> result;
  result.reserve(pieces_.size() + cuts.size());
  auto cut = cuts.begin();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Piece rest = pieces_[i];
    const auto put = [&](int64_t count, Process writer) {
      if (count > 0) result.push_back({count, rest.holders, writer, rest.behind_gap});
      rest.behind_gap = rest.behind_gap && count == 0;
    };
    const auto first = cut;
    for (; cut != cuts.end() && cut->piece == i; ++cut) rest.count -= cut->count;
    std::for_each(first, cut, [&](const Cut& c) { put(c.at_end ? 0 : c.count, c.writer); });
    put(rest.count, rest.writer);
    std::for_each(first, cut, [&](const Cut& c) { put(c.at_end ? c.count : 0, c.writer); });
  }
  pieces_ = std::move(result);
}

void Handover::absorb(LoadBounds bounds) {
  std::vector<int64_t> loads(static_cast<size_t>(sharing_.processes()));
  const auto load = [&loads](Process p) -> int64_t& { return loads[static_cast<size_t>(p)]; };
  for (const Piece& piece : pieces_) load(piece.writer) += piece.count;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    if (load(piece.writer) - piece.count < bounds.lowest) continue;
    const int now = neighbours_with(i, piece.writer);
    for (const Process taker : sharing_.holders(piece.holders)) {
      if (load(taker) + piece.count > bounds.highest || taker == piece.writer) continue;
      if (neighbours_with(i, taker) <= now) continue;
      load(piece.writer) -= piece.count;
      load(taker) += piece.count;
      piece.writer = taker;
      break;
    }
  }
}

Writers Handover::writers() const {
  Writers result(sharing_.processes());
  for (const Piece& piece : pieces_) result.append(piece.count, piece.writer);
  return result;
}

}  // namespace tessera::owner
