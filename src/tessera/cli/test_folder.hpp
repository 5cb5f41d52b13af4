// A folder of one test, removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tessera::cli {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera-cli-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  // The path of something in it.
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // A file that may be run.
  std::string script(const std::string& name, const std::string& text) const {
    std::string file = *this / name;
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms(0755));
    return file;
  }

 private:
  std::string path_;
};

}  // namespace tessera::cli
