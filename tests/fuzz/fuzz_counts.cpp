// Fuzzes the counts that a rank leaves: whatever the file holds, reading it ends in figures that
// can be and texts that end, from which a part of a log is made, or in a one-line message.
//
// The input changes a good file, most of which is zeros: an offset of 2 bytes, a length of 1 and so
// many bytes, again and again; an offset behind the end cuts the file to the length times 256.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/telemetry/job_log.hpp"
#include "tessera/telemetry/test_counts.hpp"

namespace {

using namespace tessera;

base::Bytes changed_content(base::ByteView input) {
  constexpr size_t kHeadBytes = 3;
  base::Bytes content = telemetry::test_counts(std::vector<telemetry::FileCounts>(2));
  while (input.size() >= kHeadBytes) {
    const size_t at = base::load_le<uint16_t>(input);
    const auto length = std::to_integer<size_t>(input[2]);
    input = input.subspan(kHeadBytes);
    if (at >= content.size()) {
      content.resize(std::min(content.size(), length << 8));
      continue;
    }
    const size_t bytes = std::min({length, input.size(), content.size() - at});
    std::copy_n(input.begin(), bytes, content.begin() + static_cast<ptrdiff_t>(at));
    input = input.subspan(bytes);
  }
  return content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const base::ByteView input(reinterpret_cast<const std::byte*>(data), size_bytes);
  const base::Bytes content = changed_content(input);
  const auto left = telemetry::decode_counts(content, telemetry::kTestVersion);
  if (!left) {
    TESSERA_ASSERT(left.error().code == base::Code::kInvalid);
    TESSERA_ASSERT(!left.error().message().empty());
    return 0;
  }
  TESSERA_ASSERT(left->rank >= 0 && left->rank < left->job.ranks);
  TESSERA_ASSERT(left->files.size() * telemetry::kTestFileBytes < content.size());
  std::vector<const telemetry::FileCounts*> files;
  for (const telemetry::FileCounts& file : left->files) {
    TESSERA_ASSERT(file.opens >= 0 && file.path.back() == 0);
    files.push_back(&file);
  }
  TESSERA_ASSERT(!telemetry::rank_text(left->rank, files).empty());
  return 0;
}
