// Requests of C programs: their plain numbers become what the lock service is asked, or an error
// that names the number.
//
//   (R1) No combination of numbers overflows or aborts: what is out of bounds is refused.
//   (R2) The bytes asked for are exactly those of the ranges, whatever their order.
// Thread safety: pure functions.
#pragma once

#include <tessera_lock.h>

#include <span>

#include "tessera/base/result.hpp"
#include "tessera/lock/lock_client.hpp"

namespace tessera::capi {

// Each fails with kInvalid, or with kTooComplex on more unsorted ranges than can be sorted.
[[nodiscard]] base::Result<pattern::ByteSet> bytes_of(std::span<const tessera_lock_range> ranges);
[[nodiscard]] base::Result<pattern::ByteSet> bytes_of(const tessera_lock_strided& ranges);

// `terms` may be null. Requires bytes.
[[nodiscard]] base::Result<lock::LockClient::Asked> request_of(const char* file,
                                                               pattern::ByteSet bytes,
                                                               const tessera_lock_terms* terms);

}  // namespace tessera::capi
