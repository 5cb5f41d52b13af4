#include "tessera/cli/separate_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tessera/port/test_directory.hpp"

namespace tessera::cli {
namespace {

class SeparateFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(there_) << "mesh";
    std::filesystem::create_hard_link(there_, directory_.path("link"));
    std::filesystem::create_symlink(there_, directory_.path("symlink"));
  }

  [[nodiscard]] std::string refusal(const std::string& output,
                                    const std::string& second = "") const {
    const std::vector<NamedFile> inputs = {{"MESH", there_}, {"--partition", ""}};
    const std::vector<NamedFile> outputs = {{"--save", output}, {"--html", second}};
    const auto checked = check_separate(inputs, outputs);
    return checked ? "" : checked.error().message();
  }

  const port::TestDirectory directory_;
  const std::string there_ = directory_.path("mesh");
};

TEST_F(SeparateFiles, NoOutputIsAnInput) {
  for (const char* name : {"mesh", "link", "symlink", "./mesh"}) {
    const std::string path = directory_.path(name);
    EXPECT_EQ(refusal(path), "MESH and --save are one file, " + path);
  }
  EXPECT_EQ(refusal(directory_.path("other")), "");
  EXPECT_EQ(refusal(""), "");
}

TEST_F(SeparateFiles, NoOutputIsAnother) {
  const std::string absent = directory_.path("new");
  EXPECT_EQ(refusal(absent, absent), "--save and --html are one file, " + absent);
  EXPECT_EQ(refusal(absent, directory_.path("./new")),
            "--save and --html are one file, " + directory_.path("./new"));
  EXPECT_EQ(refusal(absent, directory_.path("newer")), "");
  EXPECT_EQ(refusal(directory_.path("none/a"), directory_.path("none/b")), "");
}

}  // namespace
}  // namespace tessera::cli
