#include "tessera/lock/claim_board.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::lock {

namespace {

using State = SlotWord::State;

// How often a slot that changes while it is read is read again. A claim changes its word twice.
constexpr int kReadsMax = 100;
constexpr size_t kPatternWordBytes = sizeof(uint64_t);

void write_body(BoardBody& body, const BoardClaim& claim, pattern::Interval span) {
  TESSERA_ASSERT(claim.bytes.size() <= kBoardPatternBytesMax);
  // Whoever reads one of these words sees afterwards that the slot is not what it was (M2).
  const auto put = [](BoardWord& word, uint64_t value) {
    word.store(value, std::memory_order_release);
  };
  put(body.session, claim.session);
  put(body.sequence, claim.sequence);
  put(body.begin, static_cast<uint64_t>(span.begin));
  put(body.end, static_cast<uint64_t>(span.end));
  put(body.size, claim.bytes.size());
  for (size_t at = 0; at < claim.bytes.size(); at += kPatternWordBytes) {
    uint64_t word = 0;
    std::memcpy(&word, claim.bytes.data() + at,
                std::min(kPatternWordBytes, claim.bytes.size() - at));
    put(body.pattern[at / kPatternWordBytes], word);
  }
}

uint64_t get(const BoardWord& word) { return word.load(std::memory_order_acquire); }

pattern::Interval span_of(const BoardBody& body) {
  return {static_cast<int64_t>(get(body.begin)), static_cast<int64_t>(get(body.end))};
}

// A number of desks as it stands in the memory.
size_t bounded(const BoardWord& desks, size_t max) {
  return static_cast<size_t>(std::min<uint64_t>(desks.load(), max));
}

void raise(BoardWord& word, uint64_t to) {
  uint64_t seen = word.load();
  while (seen < to && !word.compare_exchange_weak(seen, to)) {
  }
}

}  // namespace

BoardMemory& board_in(std::span<std::byte> memory) {
  TESSERA_ASSERT(memory.size() >= sizeof(BoardMemory));
  return *reinterpret_cast<BoardMemory*>(memory.data());
}

bool desk_is_clear(const BoardMemory& memory, size_t desk) {
  const uint64_t generation = memory.open;
  const auto& words = memory.desks[desk].words;
  return generation == 0 || std::none_of(words.begin(), words.end(), [&](const BoardWord& word) {
           return SlotWord::of(word).counts_in(generation);
         });
}

// --- reading

struct BoardReader::Seen {
  std::array<std::byte, kBoardPatternBytesMax> buffer;
  size_t size = 0;

  [[nodiscard]] base::ByteView bytes() const { return std::span(buffer).first(size); }

  void read_pattern(const BoardBody& body) {
    size = static_cast<size_t>(std::min<uint64_t>(get(body.size), kBoardPatternBytesMax));
    for (size_t at = 0; at < size; at += kPatternWordBytes) {
      const uint64_t word = get(body.pattern[at / kPatternWordBytes]);
      std::memcpy(buffer.data() + at, &word, std::min(kPatternWordBytes, size - at));
    }
  }
};

BoardReader::Desks BoardReader::client_desks() const {
  return {0, bounded(memory_.client_desks, kClientDesks)};
}

BoardReader::Desks BoardReader::server_desks() const {
  return {kClientDesks, kClientDesks + bounded(memory_.server_desks, kServerDesks)};
}

bool BoardReader::is_apart(size_t slot, const Seen& seen, const Claim& claim) {
  // Most processes of a job claim the same shape at another place.
  const auto alike = pattern::decode_alike(seen.bytes(), claim.bytes.ascending(), encoded_);
  if (alike && alike->span().begin >= 0) {
    return !may_overlap(pattern::ByteSet::of_ascending(*alike), claim.bytes);
  }
  if (known_.size() <= slot) known_.resize(slot + 1);
  Known& known = known_[slot];
  const bool same = base::equal(known.theirs, seen.bytes());
  if (same && known.compared == pattern_) return known.apart;
  if (!same || known.theirs.empty()) {
    known.theirs = base::copy_of(seen.bytes());
    auto decoded = decode_claim(known.theirs, Mode::kExclusive);
    known.bytes = decoded ? std::optional(std::move(decoded->bytes)) : std::nullopt;
  }
  known.compared = pattern_;
  known.apart = known.bytes && !may_overlap(*known.bytes, claim.bytes);
  return known.apart;
}

void BoardReader::look_for(base::ByteView encoded) {
  if (pattern_ != 0 && base::equal(encoded_, encoded)) return;
  encoded_ = base::copy_of(encoded);
  ++pattern_;
}

bool BoardReader::conflicts_at(size_t desk, size_t slot, uint64_t generation, const Claim& claim) {
  const BoardWord& word = memory_.desks[desk].words[slot];
  const BoardBody& body = memory_.bodies[slot][desk];
  const pattern::Interval span = claim.bytes.span();
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const uint64_t before = word;
    const SlotWord found = SlotWord::of(before);
    const Mode mode = found.exclusive ? Mode::kExclusive : Mode::kShared;
    if (!found.counts_in(generation) || !conflict(claim.mode, mode)) return false;
    const bool meets = span_of(body).meets(span);
    Seen seen;
    if (meets) seen.read_pattern(body);
    if (word != before) continue;
    return meets && !is_apart(slot * kDesks + desk, seen, claim);
  }
  return true;
}

bool BoardReader::conflicts(Desks desks, uint64_t generation, const Claim& claim,
                            base::ByteView encoded, const BoardWord& own) {
  look_for(encoded);
  for (size_t desk = desks.begin; desk < desks.end; ++desk) {
    for (size_t slot = 0; slot < kDeskSlots; ++slot) {
      const BoardWord& word = memory_.desks[desk].words[slot];
      if (&word == &own || !SlotWord::of(word).counts_in(generation)) continue;
      if (conflicts_at(desk, slot, generation, claim)) return true;
    }
  }
  return false;
}

std::vector<BoardClaim> BoardReader::held(Desks desks, uint64_t generation) const {
  std::vector<BoardClaim> claims;
  const auto read = [&](const BoardWord& word, const BoardBody& body) {
    for (int reads = 0; reads < kReadsMax; ++reads) {
      const uint64_t before = word;
      const SlotWord found = SlotWord::of(before);
      if (found.generation != generation || found.state != State::kHeld) return;
      Seen seen;
      seen.read_pattern(body);
      BoardClaim claim = {get(body.session), get(body.sequence),
                          found.exclusive ? Mode::kExclusive : Mode::kShared,
                          base::copy_of(seen.bytes())};
      if (word != before) continue;
      claims.push_back(std::move(claim));
      return;
    }
  };
  for (size_t desk = desks.begin; desk < desks.end; ++desk) {
    for (size_t slot = 0; slot < kDeskSlots; ++slot) {
      read(memory_.desks[desk].words[slot], memory_.bodies[slot][desk]);
    }
  }
  return claims;
}

// --- clients

BoardSeat::BoardSeat(BoardMemory& memory, size_t desk, std::shared_ptr<void> keeper,
                     ClaimManner manner)
    : memory_(memory),
      desk_(desk),
      keeper_(std::move(keeper)),
      manner_(std::move(manner)),
      reader_(memory) {
  TESSERA_ASSERT(desk < kClientDesks);
  for (size_t slot = 0; slot < kDeskSlots; ++slot) {
    words_[slot] = SlotWord::of(memory_.desks[desk].words[slot]);
    words_[slot].state = State::kFree;
  }
  // What is looked at by each claim is mapped now.
  for (const BoardBody& body : memory_.bodies.front()) static_cast<void>(get(body.size));
  // Before the first claim is written, so that whoever looks for claims looks here.
  raise(memory_.client_desks, desk + 1);
}

std::optional<size_t> BoardSeat::free_slot() const {
  for (size_t slot = 0; slot < kDeskSlots; ++slot) {
    if (words_[slot].state == State::kFree) return slot;
  }
  return std::nullopt;
}

void BoardSeat::mark(size_t slot, State state) {
  words_[slot].state = state;
  memory_.desks[desk_].words[slot] = words_[slot].packed();
}

std::optional<BoardSeat::Place> BoardSeat::claim(const BoardClaim& asked, const Claim& claim) {
  const uint64_t generation = memory_.open;
  const auto slot = free_slot();
  if (generation == 0 || !slot || asked.bytes.size() > kBoardPatternBytesMax) return std::nullopt;
  write_body(memory_.bodies[*slot][desk_], asked, claim.bytes.span());
  words_[*slot].generation = generation;
  words_[*slot].exclusive = claim.mode == Mode::kExclusive;
  ++words_[*slot].version;
  pause();
  mark(*slot, State::kTrying);
  pause();
  const BoardWord& own = memory_.desks[desk_].words[*slot];
  if (reader_.conflicts(reader_.client_desks(), generation, claim, asked.bytes, own) ||
      reader_.conflicts(reader_.server_desks(), generation, claim, asked.bytes, own)) {
    mark(*slot, State::kFree);
    return std::nullopt;
  }
  pause();
  mark(*slot, State::kHeld);
  pause();
  if (manner_.looks_again && memory_.open != generation) {
    mark(*slot, State::kFree);
    return std::nullopt;
  }
  BoardWord& granted = memory_.desks[desk_].granted;
  granted.store(granted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return Place{*slot, generation};
}

bool BoardSeat::release(const Place& place) {
  mark(place.slot, State::kFree);
  return undisturbed(place);
}

bool BoardSeat::undisturbed(const Place& place) const { return memory_.open == place.generation; }

// --- the server

BoardKeeper::BoardKeeper(BoardMemory& memory, uint64_t token) : memory_(memory), reader_(memory) {
  for (size_t slot = 0; slot < kServerDesks * kDeskSlots; ++slot) free_.insert(slot);
  memory_.token = token;
  memory_.magic = kBoardMagic;
}

void BoardKeeper::mark(size_t slot, const BoardClaim& claim, State state) {
  const size_t desk = kClientDesks + slot / kDeskSlots;
  BoardWord& word = memory_.desks[desk].words[slot % kDeskSlots];
  SlotWord next = SlotWord::of(word);
  if (next.state == State::kFree) ++next.version;
  next.generation = generation_;
  next.exclusive = claim.mode == Mode::kExclusive;
  next.state = state;
  word = next.packed();
}

// The desks that have posts are looked at by every claim, so no more are named than have some.
void BoardKeeper::set_desks() {
  size_t slots = 0;
  for (const auto& [ticket, slot] : posts_) slots = std::max(slots, slot + 1);
  const uint64_t desks = (slots + kDeskSlots - 1) / kDeskSlots;
  if (memory_.server_desks != desks) memory_.server_desks = desks;
}

std::optional<size_t> BoardKeeper::take_slot(const BoardClaim& claim) {
  if (free_.empty() || claim.bytes.size() > kBoardPatternBytesMax) return std::nullopt;
  const size_t slot = *free_.begin();
  free_.erase(free_.begin());
  return slot;
}

bool BoardKeeper::open(const std::vector<Post>& held) {
  TESSERA_ASSERT(!is_open() && posts_.empty());
  // The last generation is never used, so that no word of an old one can count again.
  if (generation_ + 1 >= SlotWord::kGenerationMax || held.size() > free_.size()) return false;
  if (std::any_of(held.begin(), held.end(), [](const Post& post) {
        return post.claim.bytes.size() > kBoardPatternBytesMax;
      })) {
    return false;
  }
  ++generation_;
  for (const Post& post : held) {
    const size_t slot = *take_slot(post.claim);
    const auto claim = decode_claim(post.claim.bytes, post.claim.mode);
    TESSERA_ASSERT(claim);
    write_body(memory_.bodies[slot % kDeskSlots][kClientDesks + slot / kDeskSlots], post.claim,
               claim->bytes.span());
    mark(slot, post.claim, State::kHeld);
    posts_.emplace(post.ticket, slot);
  }
  set_desks();
  generation_open_ = generation_;
  memory_.open = generation_;
  return true;
}

std::vector<BoardClaim> BoardKeeper::close() {
  TESSERA_ASSERT(is_open());
  memory_.open = 0;
  generation_open_ = 0;
  auto claims = reader_.held(reader_.client_desks(), generation_);
  while (!posts_.empty()) unpost(posts_.begin()->first);
  return claims;
}

bool BoardKeeper::post(const Post& post, const Claim& claim) {
  TESSERA_ASSERT(is_open() && !posts_.contains(post.ticket));
  const auto slot = take_slot(post.claim);
  if (!slot) return false;
  posts_.emplace(post.ticket, *slot);
  set_desks();
  const size_t desk = kClientDesks + *slot / kDeskSlots;
  write_body(memory_.bodies[*slot % kDeskSlots][desk], post.claim, claim.bytes.span());
  mark(*slot, post.claim, State::kTrying);
  const BoardWord& own = memory_.desks[desk].words[*slot % kDeskSlots];
  if (reader_.conflicts(reader_.client_desks(), generation_, claim, post.claim.bytes, own)) {
    unpost(post.ticket);
    return false;
  }
  mark(*slot, post.claim, State::kHeld);
  return true;
}

void BoardKeeper::unpost(Ticket ticket) {
  const auto at = posts_.find(ticket);
  if (at == posts_.end()) return;
  mark(at->second, {}, State::kFree);
  free_.insert(at->second);
  posts_.erase(at);
  set_desks();
}

BoardKeeper::Use BoardKeeper::use() const {
  Use use;
  const auto desks = reader_.client_desks();
  for (size_t desk = desks.begin; desk < desks.end; ++desk) {
    use.granted += memory_.desks[desk].granted.load(std::memory_order_relaxed);
    for (const BoardWord& word : memory_.desks[desk].words) {
      if (generation_open_ != 0 && SlotWord::of(word).counts_in(generation_open_)) ++use.claimed;
    }
  }
  return use;
}

}  // namespace tessera::lock
