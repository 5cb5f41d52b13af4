// What the messages of the lock service have in common as bytes: version, type, checksum, names.
//
//   version (1 byte)  type (1 byte)  fields of the type  CRC-32C of all before (4 bytes)
//
// A family of messages is a variant; its alternatives have consecutive types from the family's
// first one on. Families that share a connection have types of their own: those of clients and
// servers begin at 1 (messages.hpp), those of administrators at 128 (admin_messages.hpp).
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "tessera/base/bytes.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/result.hpp"

namespace tessera::lock::codec {

// The error of bytes that no program of this version writes: kIntegrity.
[[nodiscard]] base::Failure bad(const char* what);

// Text that is longer than `max` bytes is cut off.
void write_text(base::ByteWriter& to, const std::string& text, size_t max);

[[nodiscard]] base::Result<std::string> read_text(base::ByteReader& from, size_t max);
[[nodiscard]] base::Result<bool> read_flag(base::ByteReader& from);
// The number of a request, which is never 0.
[[nodiscard]] base::Result<uint64_t> read_sequence(base::ByteReader& from);

// One of the values from 1 to `last`.
template <typename Enum>
[[nodiscard]] base::Result<Enum> read_enum(base::ByteReader& from, Enum last) {
  TESSERA_TRY(const uint8_t value, from.u8());
  if (value == 0 || value > static_cast<uint8_t>(last)) return bad("an unknown reason");
  return static_cast<Enum>(value);
}

// Writes version and type; seal() is to follow the fields.
void begin(base::ByteWriter& to, uint8_t type);
void seal(base::Bytes& frame);

// The type and the fields of a frame whose version and checksum are right.
struct Opened {
  uint8_t type = 0;
  base::ByteView fields;
};
[[nodiscard]] base::Result<Opened> open(base::ByteView frame);

// `write` is called with a writer and the alternative that the message is.
template <typename Message, typename Write>
[[nodiscard]] base::Bytes encode(const Message& message, uint8_t first_type, Write write) {
  base::Bytes frame;
  base::ByteWriter writer(frame);
  begin(writer, base::exact_cast<uint8_t>(first_type + message.index()));
  std::visit([&](const auto& alternative) { write(writer, alternative); }, message);
  seal(frame);
  return frame;
}

// `read` is called with a reader and an empty alternative, and answers it with its fields.
template <typename Message, size_t I, typename Read>
[[nodiscard]] base::Result<Message> read_alternative(size_t index, base::ByteReader& from,
                                                     Read read) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (index != I) return read_alternative<Message, I + 1>(index, from, read);
    TESSERA_TRY(auto message, read(from, std::variant_alternative_t<I, Message>{}));
    return Message(std::move(message));
  } else {
    return bad("an unknown type");
  }
}

template <typename Message, typename Read>
[[nodiscard]] base::Result<Message> decode(base::ByteView frame, uint8_t first_type, Read read) {
  TESSERA_TRY(const Opened opened, open(frame));
  if (opened.type < first_type) return bad("an unknown type");
  base::ByteReader reader(opened.fields);
  const size_t index = size_t{opened.type} - first_type;
  TESSERA_TRY(Message message, (read_alternative<Message, 0>(index, reader, read)));
  TESSERA_TRY_VOID(reader.expect_end());
  return message;
}

}  // namespace tessera::lock::codec
