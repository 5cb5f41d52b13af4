#include "tessera/port/thread_exchange.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

// What a rank calls; all ranks of a round must call the same.
struct ThreadExchange::Call {
  const char* function;
  int root = 0;

  [[nodiscard]] std::string text() const {
    return std::string(function) + " with root " + std::to_string(root);
  }
};

// One collective call of all ranks. Complete once every rank has given; then it only is read,
// except that in all_to_all each rank takes what is addressed to it.
struct ThreadExchange::Round {
  explicit Round(int size) : given(base::exact_cast<size_t>(size)) {}

  std::string call;  // of the first rank that came
  int arrived = 0;
  std::vector<std::vector<base::Bytes>> given;  // by the rank that gave
};

class ThreadExchange::Group {
 public:
  explicit Group(int size) : size_(size), current_(std::make_shared<Round>(size)) {}

  [[nodiscard]] int size() const { return size_; }

  // Gives a rank's contribution and waits until all ranks have given theirs.
  base::Result<std::shared_ptr<Round>> meet(int rank, const Call& call,
                                            std::vector<base::Bytes> given) {
    std::unique_lock lock(mutex_);
    if (broken_) return base::Failure{*broken_};
    const std::shared_ptr<Round> round = current_;
    if (round->arrived == 0) round->call = call.text();
    if (round->call != call.text()) {
      break_up({base::Code::kInvalid, 0,
                "rank " + std::to_string(rank) + " called " + call.text() + ", another rank " +
                    round->call});
      return base::Failure{*broken_};
    }
    round->given[static_cast<size_t>(rank)] = std::move(given);
    if (++round->arrived == size_) {
      current_ = std::make_shared<Round>(size_);
      changed_.notify_all();
      return round;
    }
    // A round that was completed counts, even if a rank has left the group since.
    changed_.wait(lock, [&] { return round->arrived == size_ || broken_.has_value(); });
    if (round->arrived < size_) return base::Failure{*broken_};
    return round;
  }

  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    break_up({base::Code::kFailed, 0, "rank " + std::to_string(rank) + " has left"});
  }

 private:
  void break_up(base::Error reason) {
    broken_ = std::move(reason);
    changed_.notify_all();
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<base::Error> broken_;
  std::shared_ptr<Round> current_;
};

std::vector<std::unique_ptr<ThreadExchange>> ThreadExchange::make_group(int size) {
  TESSERA_ASSERT(size > 0);
  const auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<ThreadExchange>> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(std::unique_ptr<ThreadExchange>(new ThreadExchange(group, rank)));
  }
  return ranks;
}

ThreadExchange::~ThreadExchange() { group_->leave(rank_); }

int ThreadExchange::size() const { return group_->size(); }

base::Result<std::shared_ptr<ThreadExchange::Round>> ThreadExchange::meet(
    const Call& call, std::vector<base::Bytes> given) {
  TESSERA_ASSERT(0 <= call.root && call.root < size());
  return group_->meet(rank_, call, std::move(given));
}

base::Result<void> ThreadExchange::barrier() {
  TESSERA_TRY_VOID(meet({"barrier"}, {}));
  return {};
}

base::Result<std::vector<base::Bytes>> ThreadExchange::all_to_all(
    std::vector<base::Bytes> outgoing) {
  TESSERA_ASSERT(outgoing.size() == static_cast<size_t>(size()));
  TESSERA_TRY(const auto round, meet({"all_to_all"}, std::move(outgoing)));
  std::vector<base::Bytes> incoming;
  for (auto& given : round->given) incoming.push_back(std::move(given[static_cast<size_t>(rank_)]));
  return incoming;
}

base::Result<std::vector<base::Bytes>> ThreadExchange::all_gather(base::Bytes mine) {
  TESSERA_TRY(const auto round, meet({"all_gather"}, {std::move(mine)}));
  std::vector<base::Bytes> all;
  for (const auto& given : round->given) all.push_back(given[0]);
  return all;
}

base::Result<std::vector<base::Bytes>> ThreadExchange::gather(int root, base::Bytes mine) {
  TESSERA_TRY(const auto round, meet({"gather", root}, {std::move(mine)}));
  std::vector<base::Bytes> all;
  if (rank_ != root) return all;
  for (auto& given : round->given) all.push_back(std::move(given[0]));
  return all;
}

base::Result<base::Bytes> ThreadExchange::broadcast(int root, base::Bytes value) {
  if (rank_ != root) value.clear();
  TESSERA_TRY(const auto round, meet({"broadcast", root}, {std::move(value)}));
  return round->given[static_cast<size_t>(root)][0];
}

base::Result<uint64_t> ThreadExchange::all_max(uint64_t mine) {
  std::array<std::byte, 8> encoded;
  base::store_le<uint64_t>(encoded, mine);
  TESSERA_TRY(const auto round, meet({"all_max"}, {base::copy_of(encoded)}));
  for (const auto& given : round->given) mine = std::max(mine, base::load_le<uint64_t>(given[0]));
  return mine;
}

void run_ranks(int size, const std::function<void(Exchange&)>& rank_main) {
  std::vector<std::thread> threads;
  for (auto& exchange : ThreadExchange::make_group(size)) {
    threads.emplace_back([&rank_main, mine = std::move(exchange)]() mutable {
      rank_main(*mine);
      mine.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tessera::port
