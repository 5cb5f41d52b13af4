// NumberHost: numbers of one process that other processes, also of other nodes, change over
// sockets.
//
// A thread of the host answers, so a process that computes delays nobody. Only those who have the
// host's key are served. A place names a number; who got it from the host, by whatever way, reaches
// the number with a RemoteNumber, which connects when it is used first.
//   (H1) Every change is made once, and the changes of a number have one order; each answers the
//        value before it.
//   (H2) Numbers whose host has gone cannot be reached, and whoever tries is told so. A change that
//        was under way then may have been made or not.
// Thread safety: all functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/authenticated_sockets.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/quiet_thread.hpp"
#include "tessera/port/shared_number.hpp"

namespace tessera::port {

struct NumberPlace {
  std::string address;
  std::string key;  // a secret: as SecretKey::parse() reads it
  uint64_t id = 0;
};
void write_place(base::ByteWriter& to, const NumberPlace& place);
[[nodiscard]] base::Result<NumberPlace> read_place(base::ByteReader& from);

class NumberHost {
 public:
  // Listens on a port of its own at a name or address of this machine. Fails where that is not one,
  // or where no thread is to be had.
  [[nodiscard]] static base::Result<std::shared_ptr<NumberHost>> start(const std::string& host);
  ~NumberHost();
  NumberHost(const NumberHost&) = delete;
  NumberHost& operator=(const NumberHost&) = delete;

  // A new number, 0.
  [[nodiscard]] NumberPlace add();
  void remove(const NumberPlace& place);

 private:
  enum class Change : uint8_t;
  using Numbers = std::map<uint64_t, int64_t>;
  friend class RemoteNumber;

  NumberHost(std::unique_ptr<AuthenticatedSockets> sockets, std::string address, std::string key)
      : sockets_(std::move(sockets)), address_(std::move(address)), key_(std::move(key)) {}

  void serve();
  [[nodiscard]] base::Result<base::Bytes> answer(base::ByteView request);

  const std::unique_ptr<AuthenticatedSockets> sockets_;
  const std::string address_;
  const std::string key_;
  Guarded<Numbers> numbers_;
  std::atomic<uint64_t> next_id_{1};
  std::atomic<bool> ending_{false};
  QuietThread thread_;
};

// A number of another process, or of this one.
class RemoteNumber final : public SharedNumber {
 public:
  explicit RemoteNumber(NumberPlace place) : place_(std::move(place)) {}
  ~RemoteNumber() override;

  // Fail as (H2) says.
  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override;
  [[nodiscard]] base::Result<int64_t> load() override { return fetch_add(0); }
  [[nodiscard]] base::Result<void> store(int64_t value) override;

 private:
  struct Connection {
    std::unique_ptr<AuthenticatedSockets> sockets;
    ConnectionId id{};
  };

  [[nodiscard]] base::Result<int64_t> change(NumberHost::Change how, int64_t value);
  [[nodiscard]] base::Result<Connection> connect() const;

  const NumberPlace place_;
  Guarded<std::optional<Connection>> connection_;
};

}  // namespace tessera::port
