// TestDirectory: a directory of its own for a test, gone with it.
//
// Thread safety: as for any value type.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tessera/base/assert.hpp"

namespace tessera::port {

class TestDirectory {
 public:
  // Below TMPDIR, or /tmp.
  TestDirectory() {
    root_ = (std::filesystem::temp_directory_path() / "tessera_test_XXXXXX").string();
    TESSERA_ASSERT(::mkdtemp(root_.data()) != nullptr);
  }
  ~TestDirectory() { remove(); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  // Already now, where the process ends before it could be destroyed. Open files stay usable.
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

 private:
  std::string root_;
};

}  // namespace tessera::port
