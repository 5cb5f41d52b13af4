#include "tessera/owner/writers_codec.hpp"

#include <gtest/gtest.h>

#include "tessera/base/checksum.hpp"
#include "tessera/owner/policies.hpp"
#include "tessera/owner/test_sharings.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::owner {
namespace {

using base::Bytes;
using base::Code;

constexpr size_t kHeadBytes = 40;

// The example of docs/formats/writer-plan.md.
WriterPlan example() {
  Writers writers(2);
  writers.append(6, 0);
  writers.append(2, 1);
  return {"idg", 0x0123456789abcdef, "paper 2", writers};
}

Bytes bytes_of_hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

// The bytes with a length and a checksum that fit them.
Bytes sealed(Bytes bytes) {
  bytes.resize(bytes.size() - sizeof(uint64_t));
  base::store_le<uint64_t>(std::span(bytes).subspan(32), bytes.size() - kHeadBytes);
  const uint64_t checksum = base::checksum(bytes);
  base::ByteWriter(bytes).u64(checksum);
  return bytes;
}

Bytes with_body(std::string_view hex) {
  Bytes bytes = encode_plan(example()).value();
  bytes.resize(kHeadBytes);
  const Bytes body = bytes_of_hex(hex);
  bytes.insert(bytes.end(), body.begin(), body.end());
  bytes.resize(bytes.size() + sizeof(uint64_t));
  return sealed(bytes);
}

// Shape of 2 processes, 8 items, no policy.
constexpr std::string_view kShape = "02 0b 00 00 00 00 00 00 00 00 02 08 00 ";

base::Error error_of(const Bytes& bytes) {
  const auto plan = decode_plan(bytes);
  return plan ? base::Error{} : plan.error();
}

TEST(WriterPlan, TheExampleOfItsPage) {
  const Bytes bytes = encode_plan(example()).value();
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end() - 8),
            bytes_of_hex("89 54 73 72 57 0d 0a 1a 01 00 00 00 00 00 00 00"
                         "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
                         "20 00 00 00 00 00 00 00"
                         "02 0e ef cd ab 89 67 45 23 01 02 08 03 69 64 67"
                         "04 05 02 00 06 02 02"
                         "07 07 70 61 70 65 72 20 32"));
  EXPECT_EQ(decode_plan(bytes).value(), example());
}

TEST(WriterPlan, RoundTrips) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 200; ++round) {
    const int processes = 1 + static_cast<int>(below(random, 300));
    const auto items = random_items(random, below(random, 200), processes);
    const Sharing sharing = sharing_of_items(items, processes);
    const WriterPlan plan = {"random", random.next(), std::string(below(random, 10), 'x'),
                             random_writers(sharing, random.next())};
    const Bytes bytes = encode_plan(plan).value();
    EXPECT_EQ(decode_plan(bytes).value(), plan);
    Bytes changed = bytes;
    const size_t at = below(random, bytes.size());
    changed[at] ^= static_cast<std::byte>(1U << below(random, 8));
    EXPECT_FALSE(decode_plan(changed)) << "byte " << at;
    EXPECT_FALSE(decode_plan(base::ByteView(bytes).first(at)));
  }
}

TEST(WriterPlan, WhatIsNoPlanIsTold) {
  EXPECT_EQ(error_of({}).code, Code::kInvalid);
  const Bytes good = encode_plan(example()).value();
  Bytes newer = good;
  newer[8] = std::byte{2};
  EXPECT_EQ(error_of(newer).code, Code::kIntegrity);
  EXPECT_EQ(error_of(sealed(newer)).code, Code::kInvalid);
  EXPECT_NE(error_of(sealed(newer)).context.find("version 2"), std::string::npos);
  Bytes features = good;
  features[24] = std::byte{4};
  EXPECT_EQ(error_of(sealed(features)).code, Code::kInvalid);
  Bytes compatible = good;
  compatible[16] = std::byte{4};
  EXPECT_EQ(decode_plan(sealed(compatible)).value(), example());
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_NE(error_of(longer).context.find("bytes follow"), std::string::npos);
}

TEST(WriterPlan, SectionsOfNewerProgramsAreSkippedOrRefused) {
  const std::string known = std::string(kShape) + "04 05 02 00 06 02 02 ";
  EXPECT_TRUE(decode_plan(with_body(known)));
  EXPECT_TRUE(decode_plan(with_body(known + "13 02 aa bb")));
  const base::Error refused = error_of(with_body(known + "12 02 aa bb"));
  EXPECT_EQ(refused.code, Code::kInvalid);
  EXPECT_NE(refused.context.find("section (9)"), std::string::npos);
}

TEST(WriterPlan, WrongFieldsAreDamage) {
  const std::string shape(kShape);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {shape, "section 2 is missing"},
      {"04 05 02 00 06 02 02", "section 1 is missing"},
      {"04 05 02 00 06 02 02 " + shape, "not in order"},
      {shape + "04 05 02 00 06 04 02", "at byte 58: a writer is not"},
      {shape + "04 05 02 01 06 02 02", "a writer is not"},
      {shape + "04 05 02 00 06 00 02", "one writer"},
      {shape + "04 05 02 00 00 02 08", "is empty, or ends"},
      {shape + "04 05 02 00 06 02 03", "is empty, or ends"},
      {shape + "04 05 02 00 06 02 01", "items have no writer"},
      {shape + "04 05 03 00 06 02 02", "intervals are missing"},
      {shape + "04 06 02 00 06 02 02 00", "bytes follow"},
      {shape + "04 05 02 00 06", "at byte "},
      {"02 0b 00 00 00 00 00 00 00 00 00 08 00 04 05 02 00 06 02 02", "no processes"},
      {"02 0e 00 00 00 00 00 00 00 00 81 80 80 08 08 00 04 05 02 00 06 02 02", "too many"},
  };
  for (const auto& [body, why] : cases) {
    const base::Error error = error_of(with_body(body));
    EXPECT_EQ(error.code, Code::kIntegrity) << body;
    EXPECT_NE(error.context.find(why), std::string::npos) << error.context << " for " << body;
  }
}

TEST(WriterPlan, PlansBeyondTheBoundsAreNotWritten) {
  WriterPlan plan = example();
  plan.label = std::string(kPlanMaxTextBytes + 1, 'x');
  EXPECT_EQ(encode_plan(plan).error().code, Code::kInvalid);
  plan.label.pop_back();
  EXPECT_EQ(decode_plan(encode_plan(plan).value()).value(), plan);
  plan.writers = Writers(kPlanMaxProcesses + 1);
  EXPECT_EQ(encode_plan(plan).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace tessera::owner
