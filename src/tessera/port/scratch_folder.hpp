// ScratchFolder: a folder for what a command needs only while it runs.
//
// It is removed with the object, and also when the process is killed: no handler runs then, and
// none could remove a folder, so a child waits for the end of the process. Thread safety: none.
// Cost: a process that sleeps.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/port/descriptor.hpp"

namespace tessera::port {

class ScratchFolder {
 public:
  // A folder of a new name, PREFIX-0123456789abcdef, in the folder `above`. Fails as mkdir() does.
  [[nodiscard]] static base::Result<ScratchFolder> make(const std::string& above,
                                                        const std::string& prefix);
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::move(other.path_)),
        child_(std::exchange(other.child_, -1)),
        write_end_(std::move(other.write_end_)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  // Returns once the folder is gone.
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ScratchFolder() = default;

  std::string path_;
  pid_t child_ = -1;
  Descriptor write_end_;  // the child reads the other
};

}  // namespace tessera::port
