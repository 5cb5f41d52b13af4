// The file of a rank's counts for tests, byte by byte, so that each of them can be damaged.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/telemetry/counts.hpp"

namespace tessera::telemetry {

inline constexpr const char* kTestVersion = "test";
inline constexpr size_t kTestHeaderBytes = 8192;
inline constexpr size_t kTestFileBytes = (sizeof(FileCounts) + 4095) / 4096 * 4096;

// Where the header has what.
struct TestHeader {
  static constexpr size_t kMagic = 0;
  static constexpr size_t kLibrary = 16;
  static constexpr size_t kHeaderSize = 80;
  static constexpr size_t kFileSize = 88;
  static constexpr size_t kMpi = 96;
  static constexpr size_t kProgram = 160;
  static constexpr size_t kRanks = 4256;
  static constexpr size_t kRank = 4264;
  static constexpr size_t kStarted = 4272;
  static constexpr size_t kElapsed = 4280;
  static constexpr size_t kFiles = 4288;
  static constexpr size_t kFilesLost = 4296;
  static constexpr size_t kBytes = 4304;
};

inline void put_number(base::Bytes& content, size_t at, int64_t number) {
  std::memcpy(content.data() + at, &number, sizeof number);
}

inline void put_text(base::Bytes& content, size_t at, std::string_view text) {
  std::memcpy(content.data() + at, text.data(), text.size());
}

// As rank 1 of 3 leaves it.
inline base::Bytes test_counts(const std::vector<FileCounts>& files) {
  base::Bytes content(kTestHeaderBytes + files.size() * kTestFileBytes);
  put_text(content, TestHeader::kMagic, "tessera-counts2");
  put_text(content, TestHeader::kLibrary, kTestVersion);
  put_number(content, TestHeader::kHeaderSize, TestHeader::kBytes);
  put_number(content, TestHeader::kFileSize, sizeof(FileCounts));
  put_text(content, TestHeader::kMpi, "MPICH");
  put_text(content, TestHeader::kProgram, "/bin/program");
  put_number(content, TestHeader::kRanks, 3);
  put_number(content, TestHeader::kRank, 1);
  put_number(content, TestHeader::kStarted, 1'700'000'000);
  put_number(content, TestHeader::kElapsed, 5);
  put_number(content, TestHeader::kFiles, static_cast<int64_t>(files.size()));
  for (size_t i = 0; i < files.size(); ++i) {
    std::memcpy(content.data() + kTestHeaderBytes + i * kTestFileBytes, &files[i],
                sizeof(FileCounts));
  }
  return content;
}

}  // namespace tessera::telemetry
