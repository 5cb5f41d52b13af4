// The functions of tessera_lock.h. No exception leaves them.
#include <tessera_lock.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tessera/capi/answer.hpp"
#include "tessera/capi/connection.hpp"
#include "tessera/capi/requests.hpp"

struct tessera_lock_connection {
  std::unique_ptr<tessera::capi::Connection> connection;
};

namespace tessera::capi {

namespace {

using base::Code;
using base::Result;

int status_of(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kTooComplex:
      return TESSERA_LOCK_INVALID;
    case Code::kRetry:
      return TESSERA_LOCK_AGAIN;
    case Code::kDenied:
      return TESSERA_LOCK_LOST;
    case Code::kFailed:
    case Code::kNotFound:
    case Code::kIntegrity:
      return TESSERA_LOCK_FAILED;
  }
  return TESSERA_LOCK_FAILED;
}

template <typename Call>
int answer(Call call) noexcept {
  return answer_with(status_of, call);
}

// The argument, or else the variable; nothing if neither is there.
std::optional<std::string> given(const char* argument, const char* variable) {
  if (argument == nullptr) argument = std::getenv(variable);
  if (argument == nullptr || *argument == '\0') return std::nullopt;
  return std::string(argument);
}

Result<std::unique_ptr<Connection>> connect(const char* address, const char* key_file) {
  const auto servers = given(address, "TESSERA_LOCKS");
  if (!servers) {
    return base::fail(Code::kInvalid, "no lock server is named, and TESSERA_LOCKS is not set");
  }
  auto made = Connection::open(*servers, given(key_file, "TESSERA_KEY_FILE"));
  // What is denied here is a file, and no lock.
  if (!made && made.error().code == Code::kDenied) {
    return base::fail(Code::kFailed, made.error().message());
  }
  return made;
}

Result<Connection*> connection_of(const tessera_lock_connection* handle) {
  if (handle == nullptr) return base::fail(Code::kInvalid, "there is no connection");
  return handle->connection.get();
}

struct Place {
  const tessera_lock_connection* connection;
  const char* file;
  const tessera_lock_terms* terms;
  tessera_lock_id* lock;
};

Result<void> acquire(const Place& place, Result<pattern::ByteSet> bytes) {
  TESSERA_TRY(Connection* const connection, connection_of(place.connection));
  if (place.lock == nullptr) return base::fail(Code::kInvalid, "there is no place for the lock");
  TESSERA_TRY(auto wanted, std::move(bytes));
  TESSERA_TRY(const auto asked, request_of(place.file, std::move(wanted), place.terms));
  TESSERA_TRY(*place.lock, connection->acquire(asked));
  return {};
}

}  // namespace

}  // namespace tessera::capi

using namespace tessera;
using base::Code;

int tessera_lock_connect(const char* address, const char* key_file,
                         tessera_lock_connection** connection) {
  return capi::answer([&]() -> base::Result<void> {
    if (connection == nullptr) {
      return base::fail(Code::kInvalid, "there is no place for the connection");
    }
    *connection = nullptr;
    TESSERA_TRY(auto made, capi::connect(address, key_file));
    *connection = new tessera_lock_connection{std::move(made)};
    return {};
  });
}

void tessera_lock_disconnect(tessera_lock_connection* connection) {
  static_cast<void>(capi::answer([&]() -> base::Result<void> {
    delete connection;
    return {};
  }));
}

int tessera_lock_acquire_list(tessera_lock_connection* connection, const char* file,
                              const tessera_lock_range* ranges, size_t count,
                              const tessera_lock_terms* terms, tessera_lock_id* lock) {
  return capi::answer([&]() -> base::Result<void> {
    if (ranges == nullptr && count > 0) return base::fail(Code::kInvalid, "there are no ranges");
    return capi::acquire({connection, file, terms, lock}, capi::bytes_of({ranges, count}));
  });
}

int tessera_lock_acquire_strided(tessera_lock_connection* connection, const char* file,
                                 const tessera_lock_strided* ranges,
                                 const tessera_lock_terms* terms, tessera_lock_id* lock) {
  return capi::answer([&]() -> base::Result<void> {
    if (ranges == nullptr) return base::fail(Code::kInvalid, "there are no ranges");
    return capi::acquire({connection, file, terms, lock}, capi::bytes_of(*ranges));
  });
}

int tessera_lock_confirm(tessera_lock_connection* connection, tessera_lock_id lock) {
  return capi::answer([&]() -> base::Result<void> {
    TESSERA_TRY(capi::Connection* const known, capi::connection_of(connection));
    return known->confirm(lock);
  });
}

int tessera_lock_release(tessera_lock_connection* connection, tessera_lock_id lock) {
  return capi::answer([&]() -> base::Result<void> {
    TESSERA_TRY(capi::Connection* const known, capi::connection_of(connection));
    return known->release(lock);
  });
}

const char* tessera_lock_error(void) { return capi::last_error().c_str(); }
