#include "tessera/pattern/span_tree.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern {
namespace {

using model::Engine;
using model::uniform;

// Every entry in a vector.
struct Model {
  std::vector<std::pair<Interval, Ticket>> entries;

  [[nodiscard]] std::optional<Ticket> latest(Interval span, Ticket before, Ticket odd_one_out,
                                             std::optional<Ticket> floor) const {
    std::optional<Ticket> found = floor;
    for (const auto& [at, ticket] : entries) {
      if (!at.meets(span) || ticket >= before || ticket % 7 == odd_one_out) continue;
      if (!found || ticket > *found) found = ticket;
    }
    return found;
  }
};

Interval random_span(Engine& engine) {
  const int64_t begin = uniform(engine, -10, 40);
  return {begin, begin + uniform(engine, 1, uniform(engine, 0, 5) == 0 ? 50 : 5)};
}

TEST(SpanTree, FindsWhatAListFinds) {
  Engine engine(model::seed());
  for (int round = 0; round < model::rounds(200); ++round) {
    SCOPED_TRACE(model::seed_note(round));
    SpanTree tree;
    Model model;
    Ticket next = 1;
    for (int step = 0; step < 200; ++step) {
      if (uniform(engine, 0, 2) > 0 || model.entries.empty()) {
        const Interval span = random_span(engine);
        // Several intervals may have one ticket.
        if (uniform(engine, 0, 3) > 0) ++next;
        tree.insert(span, next);
        model.entries.emplace_back(span, next);
      } else {
        const auto at = static_cast<size_t>(uniform(engine, 0, std::ssize(model.entries) - 1));
        tree.erase(model.entries[at].first, model.entries[at].second);
        model.entries.erase(model.entries.begin() + static_cast<std::ptrdiff_t>(at));
      }
      ASSERT_EQ(tree.size(), model.entries.size());
      ASSERT_EQ(tree.empty(), model.entries.empty());
      const Interval span = random_span(engine);
      const auto before = static_cast<Ticket>(uniform(engine, 0, static_cast<int64_t>(next) + 1));
      const auto odd = static_cast<Ticket>(uniform(engine, 0, 7));
      std::optional<Ticket> floor;
      if (uniform(engine, 0, 2) == 0) floor = static_cast<Ticket>(uniform(engine, 0, 60));
      const auto accept = [odd](Ticket ticket) { return ticket % 7 != odd; };
      ASSERT_EQ(tree.latest(span, before, accept, floor), model.latest(span, before, odd, floor));
      std::multiset<Ticket> visited;
      tree.for_each(span, [&](Ticket ticket) { visited.insert(ticket); });
      std::multiset<Ticket> expected;
      for (const auto& [place, ticket] : model.entries) {
        if (place.meets(span)) expected.insert(ticket);
      }
      ASSERT_EQ(visited, expected);
    }
  }
}

// All entries meet; the latest is found without looking at the others.
TEST(SpanTree, LooksAtTheLatestFirst) {
  SpanTree tree;
  constexpr Ticket kEntries = 100'000;
  for (Ticket ticket = 1; ticket <= kEntries; ++ticket) tree.insert({0, 1000}, ticket);
  int offered = 0;
  const auto take = [&](Ticket) { return ++offered > 0; };
  EXPECT_EQ(tree.latest({5, 6}, kEntries + 1, take), kEntries);
  EXPECT_LT(offered, 50);
}

}  // namespace
}  // namespace tessera::pattern
