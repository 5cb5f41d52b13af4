#include "tessera/remap/translator.hpp"

#include <utility>

#include "tessera/pattern/join.hpp"
#include "tessera/port/thread_exchange.hpp"
#include "tessera/remap/fill.hpp"

namespace tessera::remap {

namespace {

using base::Result;
using container::Allocation;
using container::Container;
using container::Contents;

// How often a step begins anew because the producer was faster.
constexpr int kAttempts = 100;

}  // namespace

Result<std::unique_ptr<Translator>> Translator::start(port::File& in, port::File& out,
                                                      port::Random& random,
                                                      TranslatorOptions options) {
  TESSERA_TRY(Container from, Container::open(in));
  TESSERA_TRY(Container to, Container::create(out, random, options.block_bytes));
  std::unique_ptr<Translator> translator(
      new Translator(in, out, std::move(options), std::move(from), std::move(to)));
  translator->contents_.block_bytes = translator->options_.block_bytes;
  return translator;
}

Result<bool> Translator::step() {
  for (int attempt = 1;; ++attempt) {
    if (const Result<bool> looked = in_container_.refresh(); !looked) {
      return base::failure_of(looked);
    }
    if (in_container_.superblock().sequence == taken_sequence_) return false;
    TESSERA_TRY(const Contents found, in_container_.read_contents());
    const uint64_t sequence = in_container_.superblock().sequence;
    const Result<void> done = translate(found);
    if (done) {
      taken_sequence_ = sequence;
      taken_epoch_ = found.map.epoch_max();
      ++counts_.steps;
      return true;
    }
    if (done.error().code != base::Code::kIntegrity || attempt == kAttempts) {
      return base::failure_of(done);
    }
    TESSERA_TRY(const bool newer, in_container_.refresh());
    if (!newer) return base::failure_of(done);
  }
}

Result<void> Translator::translate(const Contents& found) {
  TESSERA_TRY(const std::vector<Consumer> consumers, options_.consumers(found.size));
  TESSERA_TRY(const Plan whole, make_plan(found.size, consumers, options_.plan));
  TESSERA_TRY(const ByteSet changed, changed_bytes(found));
  TESSERA_TRY(const Plan plan, restrict_plan(whole, changed));
  TESSERA_TRY(std::vector<Allocation> allocations, fill_shelves(found, plan));
  TESSERA_TRY(Contents next, next_contents(found, plan, std::move(allocations)));
  record_views(consumers, found.size, next);
  TESSERA_TRY_VOID(out_container_.commit(next));
  contents_ = std::move(next);
  counts_.stored_bytes += plan.stored_bytes();
  return {};
}

Result<ByteSet> Translator::changed_bytes(const Contents& found) const {
  Result<ByteSet> changed = ByteSet();
  found.map.for_each([&](const map::Piece& piece) {
    if (!changed || piece.epoch <= taken_epoch_) return;
    const ByteSet bytes = ByteSet::of_ascending(pattern::side(piece.pairs, 0));
    changed = pattern::unite(*changed, bytes);
  });
  return changed;
}

Result<std::vector<Allocation>> Translator::fill_shelves(const Contents& found, const Plan& plan) {
  if (plan.shelves.empty()) return std::vector<Allocation>();
  const uint64_t sequence = in_container_.superblock().sequence;
  const int64_t begin = out_container_.space().end();
  if (options_.helpers != nullptr) {
    return options_.helpers->fill({found, sequence, in_, out_, plan, begin, options_.block_bytes},
                                  contents_.next_id());
  }
  ObjectSource source(in_, found, sequence);
  const Layout layout = layout_of(plan, begin, options_.block_bytes);
  std::vector<Result<std::vector<Allocation>>> results(static_cast<size_t>(options_.threads),
                                                       std::vector<Allocation>());
  port::run_ranks(options_.threads, [&](port::Exchange& exchange) {
    FillOptions options;
    options.syncs = exchange.rank() == 0;
    results[static_cast<size_t>(exchange.rank())] =
        fill({exchange, source, out_, plan, layout}, contents_.next_id(), options);
  });
  return results.front();
}

// The contents of the second file with what was filled, and without what is gone.
Result<Contents> Translator::next_contents(const Contents& found, const Plan& plan,
                                           std::vector<Allocation> allocations) const {
  Contents next = contents_;
  TESSERA_TRY(const ByteSet covered, found.map.covered());
  TESSERA_TRY_VOID(next.map.truncate(found.size));
  TESSERA_TRY(const ByteSet gone, covered.complement({0, found.size}));
  TESSERA_TRY_VOID(next.map.erase(gone));
  TESSERA_TRY(const map::FileMap added,
              map_of(plan, contents_.next_id(), contents_.map.epoch_max() + 1));
  TESSERA_TRY_VOID(next.map.add_all(added));
  for (Allocation& allocation : allocations) next.add(std::move(allocation));
  next.size = found.size;
  next.drop_unused();
  return next;
}

}  // namespace tessera::remap
