#include "tessera/port/frame_assembler.hpp"

#include <gtest/gtest.h>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::Bytes;

void append_frame(Bytes& stream, base::ByteView frame) {
  base::ByteWriter writer(stream);
  writer.bytes(frame_header(frame.size()));
  writer.bytes(frame);
}

TEST(FrameAssembler, FramesReturnFromPiecesOfAnySize) {
  SeededRandom random(test_seed());
  for (int round = 0; round < 200; ++round) {
    std::vector<Bytes> sent(random.uniform(6));
    Bytes stream;
    for (Bytes& frame : sent) {
      frame.resize(random.uniform(12));
      random.fill(frame);
      append_frame(stream, frame);
    }
    FrameAssembler assembler(11);
    std::vector<Bytes> received;
    for (base::ByteView rest = stream; !rest.empty();) {
      const size_t count = std::min<size_t>(rest.size(), 1 + random.uniform(9));
      ASSERT_TRUE(assembler.feed(rest.first(count), received));
      rest = rest.subspan(count);
    }
    ASSERT_EQ(received, sent);
    ASSERT_FALSE(assembler.inside_frame());
  }
}

TEST(FrameAssembler, ACutStreamEndsInsideAFrame) {
  Bytes stream;
  append_frame(stream, base::bytes_of("abc"));
  for (size_t count = 0; count <= stream.size(); ++count) {
    FrameAssembler assembler(10);
    std::vector<Bytes> frames;
    ASSERT_TRUE(assembler.feed(base::ByteView(stream).first(count), frames));
    EXPECT_EQ(assembler.inside_frame(), count > 0 && count < stream.size()) << count;
  }
}

TEST(FrameAssembler, T3AFrameOverTheLimitIsRefusedAtItsHeader) {
  Bytes stream;
  base::ByteWriter(stream).u32(11);
  FrameAssembler assembler(10);
  std::vector<Bytes> frames;
  const auto fed = assembler.feed(stream, frames);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, base::Code::kIntegrity);
  EXPECT_EQ(fed.error().context, "a frame of 11 bytes was announced, 10 are allowed");
}

}  // namespace
}  // namespace tessera::port
