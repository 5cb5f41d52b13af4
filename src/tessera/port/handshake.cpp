#include "tessera/port/handshake.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

constexpr uint32_t kMagic = 0x4b435354;  // "TSCK"
constexpr uint8_t kVersion = 1;

enum Type : uint8_t { kChallenge = 1, kAnswer = 2, kConfirmation = 3, kRefusal = 4 };
enum Why : uint8_t { kWrongKey = 1, kNoHandshake = 2, kOtherVersion = 3 };

constexpr std::string_view kClientProof = "tessera client proof";
constexpr std::string_view kServerProof = "tessera server proof";
constexpr std::string_view kClientKey = "tessera client to server";
constexpr std::string_view kServerKey = "tessera server to client";

constexpr const char* kNoHandshakeText =
    "sent something else than a handshake: it has no key, or is no part of Tessera";
constexpr const char* kOtherVersionText =
    "speaks another version of the handshake: it is older or newer than this program";

base::Bytes message(Type type) {
  base::Bytes made;
  base::ByteWriter writer(made);
  writer.u32(kMagic);
  writer.u8(kVersion);
  writer.u8(type);
  return made;
}

// What a server tells a client, in the client's words about the server.
const char* refusal_text(uint8_t why) {
  switch (why) {
    case kWrongKey:
      return "refused us: it has another key than we have";
    case kOtherVersion:
      return kOtherVersionText;
    default:
      return "refused us: it did not understand our handshake";
  }
}

const char* own_text(uint8_t why) {
  switch (why) {
    case kWrongKey:
      return "does not know the key: it was given another key file";
    case kOtherVersion:
      return kOtherVersionText;
    default:
      return kNoHandshakeText;
  }
}

}  // namespace

base::Bytes SealedStream::seal(base::ByteView frame) const {
  base::Bytes sealed;
  sealed.reserve(frame.size() + kSealBytes);
  base::ByteWriter writer(sealed);
  writer.bytes(frame);
  writer.bytes(sending_.tag(sent_, frame));
  return sealed;
}

base::Result<void> SealedStream::open(base::Bytes& frame) {
  const base::ByteView all(frame);
  const size_t content_bytes = all.size() - std::min(all.size(), kSealBytes);
  if (!receiving_.is_tag(received_, all.first(content_bytes), all.subspan(content_bytes))) {
    return base::fail(base::Code::kIntegrity,
                      "sent a frame that is not what was sealed, or not in its place");
  }
  ++received_;
  frame.resize(content_bytes);
  return {};
}

Handshake::Handshake(Role role, const SecretKey& key, Random& random) : role_(role), key_(key) {
  random.fill(own_);
}

base::Bytes Handshake::begin() const {
  if (role_ == Role::kClient) return {};
  base::Bytes made = message(kChallenge);
  base::ByteWriter(made).bytes(own_);
  return made;
}

base::Result<Handshake::Step> Handshake::receive(base::ByteView frame) {
  TESSERA_ASSERT(!open_ && !failed_);
  base::ByteReader reader(frame);
  const auto magic = reader.u32();
  const auto version = reader.u8();
  const auto type = reader.u8();
  if (!magic || !version || !type || *magic != kMagic) return refuse(kNoHandshake);
  // What a refusal looks like is the same in all versions.
  const bool refused = role_ == Role::kClient && *type == kRefusal;
  if (*version != kVersion && !refused) return refuse(kOtherVersion);
  if (refused) {
    failed_ = true;
    const auto why = reader.u8();
    return base::fail(base::Code::kDenied, refusal_text(why ? *why : uint8_t{0}));
  }
  if (role_ == Role::kServer && *type == kAnswer) return receive_answer(reader);
  if (role_ == Role::kClient && *type == kChallenge && !peers_) return receive_challenge(reader);
  if (role_ == Role::kClient && *type == kConfirmation && peers_) {
    return receive_confirmation(reader);
  }
  return refuse(kNoHandshake);
}

base::Result<Handshake::Step> Handshake::receive_answer(base::ByteReader& reader) {
  const auto challenge = reader.bytes(own_.size());
  const auto proof = reader.bytes(SecretKey::kBytes);
  if (!challenge || !proof || !reader.at_end()) return refuse(kNoHandshake);
  std::copy(challenge->begin(), challenge->end(), peers_.emplace().begin());
  if (!key_.proves(kClientProof, challenges(), *proof)) return refuse(kWrongKey);
  open_ = true;
  Step step{.reply = message(kConfirmation), .open = true};
  base::ByteWriter(step.reply).bytes(key_.prove(kServerProof, challenges()));
  return step;
}

base::Result<Handshake::Step> Handshake::receive_challenge(base::ByteReader& reader) {
  const auto challenge = reader.bytes(own_.size());
  if (!challenge || !reader.at_end()) return refuse(kNoHandshake);
  std::copy(challenge->begin(), challenge->end(), peers_.emplace().begin());
  Step step{.reply = message(kAnswer)};
  base::ByteWriter(step.reply).bytes(own_);
  base::ByteWriter(step.reply).bytes(key_.prove(kClientProof, challenges()));
  return step;
}

base::Result<Handshake::Step> Handshake::receive_confirmation(base::ByteReader& reader) {
  const auto proof = reader.bytes(SecretKey::kBytes);
  if (!proof || !reader.at_end()) return refuse(kNoHandshake);
  if (!key_.proves(kServerProof, challenges(), *proof)) return refuse(kWrongKey);
  open_ = true;
  return Step{.open = true};
}

base::Failure Handshake::refuse(uint8_t why) {
  failed_ = true;
  if (role_ == Role::kServer) {
    refusal_ = message(kRefusal);
    base::ByteWriter(refusal_).u8(why);
  }
  return base::fail(base::Code::kDenied, own_text(why));
}

// The server's first, whoever asks.
base::Bytes Handshake::challenges() const {
  base::Bytes both;
  base::ByteWriter writer(both);
  writer.bytes(role_ == Role::kServer ? own_ : *peers_);
  writer.bytes(role_ == Role::kServer ? *peers_ : own_);
  return both;
}

SealedStream Handshake::stream() const {
  TESSERA_ASSERT(open_);
  const SecretKey from_client = key_.derive(kClientKey, challenges());
  const SecretKey from_server = key_.derive(kServerKey, challenges());
  return role_ == Role::kServer ? SealedStream(from_server, from_client)
                                : SealedStream(from_client, from_server);
}

}  // namespace tessera::port
