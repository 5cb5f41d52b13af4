#include "tessera/port/thread_team.hpp"

#include <thread>

#include "tessera/base/checked.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::port {

std::vector<std::unique_ptr<ThreadTeam>> ThreadTeam::make_group(int size) {
  const auto memory = std::make_shared<Memory>();
  std::vector<std::unique_ptr<ThreadTeam>> ranks;
  for (auto& exchange : ThreadExchange::make_group(size)) {
    ranks.push_back(std::unique_ptr<ThreadTeam>(new ThreadTeam(std::move(exchange), memory)));
  }
  return ranks;
}

base::Result<std::span<std::byte>> ThreadTeam::common_memory(int64_t bytes) {
  const auto wanted = base::exact_cast<size_t>(bytes);
  if (seen_ < wanted) {
    // Nobody uses the old memory any longer; then everybody sees the new one.
    TESSERA_TRY_VOID(barrier());
    if (rank() == 0) memory_->resize(wanted);
    TESSERA_TRY_VOID(barrier());
    seen_ = wanted;
  }
  return std::span<std::byte>(*memory_);
}

void run_team(int size, const std::function<void(Team&)>& rank_main) {
  std::vector<std::thread> threads;
  for (auto& team : ThreadTeam::make_group(size)) {
    threads.emplace_back([&rank_main, mine = std::move(team)]() mutable {
      rank_main(*mine);
      mine.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tessera::port
