// Misspelt environment variables.
#include "tessera/move/variables.hpp"

#include <gtest/gtest.h>

namespace tessera::move {
namespace {

TEST(Variables, NearMissesAreNamed) {
  const char* const environment[] = {"PATH=/bin", "TESSERA_REPROT=logs", "TESSERA_ENGIN=list",
                                     nullptr};
  EXPECT_EQ(misspelt_variables(environment),
            (std::vector<std::string>{
                "TESSERA_ENGIN is not a variable of Tessera; did you mean TESSERA_ENGINE?",
                "TESSERA_REPROT is not a variable of Tessera; did you mean TESSERA_REPORT?"}));
}

TEST(Variables, KnownAndForeignOnesAreLeftAlone) {
  const char* const environment[] = {
      "TESSERA_ENGINE=list", "TESSERA_SEED=1",  "TESSERA_SOAK=1",       "TESSERA_FAKE_NODES=2",
      "TESSERA_HINTS=a=b",   "TESSERA_HOME=/x", "TESSERA_SKIP_SETUP=1", "TESSERA_MY_RUN_FOLDER=/y",
      "TESSERA_=",           "TESSERA",         "TESSERA_X=1",          nullptr};
  EXPECT_TRUE(misspelt_variables(environment).empty());
}

}  // namespace
}  // namespace tessera::move
