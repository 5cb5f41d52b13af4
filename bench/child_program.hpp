// ChildProgram: a program of ours that runs beside the bench, and not longer than it.
//
// It is asked to end (SIGTERM) when the object goes, and also when this process is ended in any
// way. Thread safety: none; started by the main thread, whose end is that of the process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// A program that lies in a place relative to the folder of the one that runs, for example
// "tesserad". Fails with kNotFound.
[[nodiscard]] base::Result<std::string> program_beside(const std::string& place);

class ChildProgram {
 public:
  // The first word is the path of the program. What it prints goes to the file `log`, or to where
  // ours goes if that is empty.
  [[nodiscard]] static base::Result<ChildProgram> start(const std::vector<std::string>& words,
                                                        const std::string& log = {});
  ChildProgram(ChildProgram&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProgram& operator=(ChildProgram&&) = delete;
  ~ChildProgram();

  // Waits for its end, so long; answers its exit status, -1 of one that was ended by a signal,
  // none of one that runs. To be asked until it has ended, and not again.
  [[nodiscard]] std::optional<int> ends_within(double seconds);
  void ask_to_end() const;

 private:
  explicit ChildProgram(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;  // -1 once it has ended or was moved from
};

}  // namespace tessera::bench
