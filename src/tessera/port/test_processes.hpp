// Processes for tests: each rank a child of the test, whose failures are the test's.
//
// Thread safety: call from one thread while no other runs.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <new>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/port/process_team.hpp"

namespace tessera::port {

// One T, zero at first, that children of this process share with it.
template <typename T>
class SharedByChildren {
 public:
  SharedByChildren() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TESSERA_ASSERT(memory != MAP_FAILED);
    value_ = new (memory) T{};
  }
  ~SharedByChildren() { ::munmap(value_, sizeof(T)); }
  SharedByChildren(const SharedByChildren&) = delete;
  SharedByChildren& operator=(const SharedByChildren&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

// Runs the function once for each rank, each in a process, and returns when all have ended. What
// fails there is reported there, and once more here.
inline void run_processes(int size, const std::function<void(int rank)>& rank_main) {
  std::fflush(nullptr);
  ::malloc_trim(0);  // fork() copies the page tables of what earlier tests left in the heap
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    TESSERA_ASSERT(child >= 0);
    if (child == 0) {
      rank_main(rank);
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    const pid_t child = children[static_cast<size_t>(rank)];
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "the process of rank " << rank << " ended with status " << status;
  }
}

// The same with a team. A rank leaves it when its function returns.
inline void run_process_team(int size, const std::function<void(ProcessTeam&)>& rank_main,
                             const ProcessTeam::Idle& idle = {}) {
  struct Place {
    TeamAddress address;
    std::atomic<bool> founded;
  };
  const SharedByChildren<Place> place;
  run_processes(size, [&](int rank) {
    if (rank == 0) {
      const auto team = ProcessTeam::found(size, idle).value();
      place->address = team->address();
      place->founded = true;
      // Until all have joined, the founder's file has to stay.
      ASSERT_TRUE(team->barrier());
      return rank_main(*team);
    }
    while (!place->founded) ::usleep(100);
    const auto team = ProcessTeam::join(place->address, rank, idle).value();
    ASSERT_TRUE(team->barrier());
    rank_main(*team);
  });
}

}  // namespace tessera::port
