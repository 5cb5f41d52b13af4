#include "tessera/port/number_host.hpp"

#include <utility>

#include "tessera/port/secret_key.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::port {

namespace {

using base::Code;
using base::Result;

// Longer than a machine that is much too busy needs for an answer.
constexpr int64_t kPatienceNs = 60'000'000'000;
constexpr int64_t kForeverNs = 3'600'000'000'000;
constexpr size_t kPeersMax = size_t{1} << 16;

AuthenticationSettings settings() {
  AuthenticationSettings made;
  made.limits = {.frame_bytes_max = 1024, .unsent_bytes_max = 65536, .connections_max = kPeersMax};
  made.half_open_max = kPeersMax;  // all ranks of a job come at the same time
  return made;
}

}  // namespace

enum class NumberHost::Change : uint8_t { kAdd = 1, kStore = 2 };

void write_place(base::ByteWriter& to, const NumberPlace& place) {
  to.sized_bytes(base::bytes_of(place.address));
  to.sized_bytes(base::bytes_of(place.key));
  to.u64(place.id);
}

Result<NumberPlace> read_place(base::ByteReader& from) {
  NumberPlace place;
  TESSERA_TRY(const base::ByteView address, from.sized_bytes());
  TESSERA_TRY(const base::ByteView key, from.sized_bytes());
  TESSERA_TRY(place.id, from.u64());
  place.address = base::text_of(address);
  place.key = base::text_of(key);
  return place;
}

Result<std::shared_ptr<NumberHost>> NumberHost::start(const std::string& host) {
  SystemRandom random;
  const SecretKey key = SecretKey::draw(random);
  std::string key_text;
  key.reveal([&](std::string_view text) { key_text = text; });
  TESSERA_TRY(auto sockets, AuthenticatedSockets::create(key, settings()));
  TESSERA_TRY(std::string address, sockets->transport().listen("tcp:" + host + ":0"));
  std::shared_ptr<NumberHost> made(
      new NumberHost(std::move(sockets), std::move(address), std::move(key_text)));
  made->thread_ = QuietThread([raw = made.get()] { raw->serve(); });
  if (!made->thread_.running()) return base::fail(Code::kFailed, "there is no thread left");
  return made;
}

NumberHost::~NumberHost() {
  ending_ = true;
  sockets_->wake();
  thread_.join();
}

NumberPlace NumberHost::add() {
  const uint64_t id = next_id_++;
  numbers_.with([&](Numbers& all) { all[id] = 0; });
  return {address_, key_, id};
}

void NumberHost::remove(const NumberPlace& place) {
  numbers_.with([&](Numbers& all) { all.erase(place.id); });
}

void NumberHost::serve() {
  Transport& transport = sockets_->transport();
  while (!ending_) {
    const auto event = transport.next_event(kForeverNs);
    if (!event || event->kind != Event::Kind::kFrame) continue;
    const auto answered = answer(event->frame);
    if (!answered || !transport.send(event->connection, *answered)) {
      transport.close(event->connection);
    }
  }
}

Result<base::Bytes> NumberHost::answer(base::ByteView request) {
  base::ByteReader reader(request);
  TESSERA_TRY(const uint8_t change, reader.u8());
  TESSERA_TRY(const uint64_t id, reader.u64());
  TESSERA_TRY(const uint64_t value, reader.u64());
  return numbers_.with([&](Numbers& all) -> Result<base::Bytes> {
    const auto found = all.find(id);
    if (found == all.end()) return base::fail(Code::kNotFound, "no such number");
    base::Bytes before;
    base::ByteWriter(before).u64(static_cast<uint64_t>(found->second));
    if (change == static_cast<uint8_t>(Change::kAdd)) {
      found->second = static_cast<int64_t>(static_cast<uint64_t>(found->second) + value);
    } else if (change == static_cast<uint8_t>(Change::kStore)) {
      found->second = static_cast<int64_t>(value);
    } else {
      return base::fail(Code::kInvalid, "no such change");
    }
    return before;
  });
}

RemoteNumber::~RemoteNumber() = default;

Result<RemoteNumber::Connection> RemoteNumber::connect() const {
  TESSERA_TRY(const SecretKey key, SecretKey::parse(place_.key));
  Connection made;
  TESSERA_TRY(made.sockets, AuthenticatedSockets::create(key, settings()));
  TESSERA_TRY(made.id, made.sockets->transport().connect(place_.address));
  return made;
}

Result<int64_t> RemoteNumber::change(NumberHost::Change how, int64_t value) {
  base::Bytes request;
  base::ByteWriter writer(request);
  writer.u8(static_cast<uint8_t>(how));
  writer.u64(place_.id);
  writer.u64(static_cast<uint64_t>(value));
  const auto answered =
      connection_.with([&](std::optional<Connection>& connection) -> Result<Event> {
        if (!connection) {
          TESSERA_TRY(connection, connect());
        }
        TESSERA_TRY_VOID(connection->sockets->transport().send(connection->id, request));
        auto answer = connection->sockets->wait_for(Event::Kind::kFrame, kPatienceNs);
        // An answer that comes later must not be taken for that of the next request.
        if (!answer) connection.reset();
        return answer;
      });
  if (!answered) {
    // Whether the change was made is not known, so nobody should try again.
    const Code code = answered.error().code;
    return base::fail(
        code == Code::kRetry ? Code::kFailed : code,
        "the number that ranks share, at " + place_.address + ": " + answered.error().message());
  }
  base::ByteReader reader(answered->frame);
  TESSERA_TRY(const uint64_t before, reader.u64());
  return static_cast<int64_t>(before);
}

Result<int64_t> RemoteNumber::fetch_add(int64_t by) { return change(NumberHost::Change::kAdd, by); }

Result<void> RemoteNumber::store(int64_t value) {
  TESSERA_TRY([[maybe_unused]] const int64_t before, change(NumberHost::Change::kStore, value));
  return {};
}

}  // namespace tessera::port
