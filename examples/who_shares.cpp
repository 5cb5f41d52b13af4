#include <cstdio>

#include "tessera/base/result.hpp"

int main() {
  const tessera::base::Result<int> answer =
      tessera::base::fail(tessera::base::Code::kNotFound, "x");
  std::printf("%s\n", answer.error().message().c_str());
}
