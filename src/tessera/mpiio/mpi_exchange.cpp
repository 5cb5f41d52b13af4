#include "tessera/mpiio/mpi_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/mpiio/native.hpp"

namespace tessera::mpiio {

using base::Bytes;
using base::Code;
using base::exact_cast;
using base::Result;

namespace {

constexpr int kTag = 1;
constexpr uint64_t kTopBit = uint64_t{1} << 63;

std::vector<uint64_t> sizes_of(const std::vector<Bytes>& messages) {
  std::vector<uint64_t> sizes;
  sizes.reserve(messages.size());
  for (const Bytes& message : messages) sizes.push_back(message.size());
  return sizes;
}

std::vector<Bytes> messages_of(const std::vector<uint64_t>& sizes) {
  std::vector<Bytes> messages;
  messages.reserve(sizes.size());
  for (const uint64_t size : sizes) messages.emplace_back(size);
  return messages;
}

std::string text_of_error(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS) return std::to_string(code);
  return std::string(text, static_cast<size_t>(length));
}

std::vector<Bytes> split(const Bytes& joined, const std::vector<uint64_t>& sizes) {
  std::vector<Bytes> parts;
  parts.reserve(sizes.size());
  auto begin = joined.begin();
  for (const uint64_t size : sizes) {
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    parts.emplace_back(begin, end);
    begin = end;
  }
  return parts;
}

}  // namespace

MpiExchange::MpiExchange(MPI_Comm communicator, int64_t piece_bytes)
    : communicator_(communicator), piece_bytes_(piece_bytes) {
  TESSERA_ASSERT(0 < piece_bytes && piece_bytes <= kPieceBytes);
  PMPI_Comm_rank(communicator, &rank_);
  PMPI_Comm_size(communicator, &size_);
}

Result<void> MpiExchange::usable() const {
  if (broken_) return base::Failure{*broken_};
  return {};
}

Result<void> MpiExchange::checked(int code, const char* function) {
  if (code == MPI_SUCCESS) return {};
  if (!broken_) {
    broken_ = base::Error{Code::kFailed, 0, std::string(function) + ": " + text_of_error(code)};
  }
  return usable();
}

Result<void> MpiExchange::barrier() {
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return {};
  return checked(PMPI_Barrier(communicator_), "MPI_Barrier");
}

Result<void> MpiExchange::post(std::span<std::byte> message, int peer, bool sends) {
  const auto piece_bytes = static_cast<size_t>(piece_bytes_);
  while (!message.empty()) {
    const auto piece = message.first(std::min(message.size(), piece_bytes));
    const auto count = static_cast<int>(piece.size());
    MPI_Request request = MPI_REQUEST_NULL;
    TESSERA_TRY_VOID(sends ? checked(PMPI_Isend(piece.data(), count, MPI_BYTE, peer, kTag,
                                                communicator_, &request),
                                     "MPI_Isend")
                           : checked(PMPI_Irecv(piece.data(), count, MPI_BYTE, peer, kTag,
                                                communicator_, &request),
                                     "MPI_Irecv"));
    requests_.push_back(request);
    message = message.subspan(piece.size());
  }
  return {};
}

Result<void> MpiExchange::transfer(Messages& outgoing, Messages& incoming) {
  const auto run = [&]() -> Result<void> {
    requests_.clear();
    const auto mine = static_cast<size_t>(rank_);
    incoming[mine] = std::move(outgoing[mine]);
    for (int step = 1; step < size_; ++step) {
      const int from = (rank_ + size_ - step) % size_;
      TESSERA_TRY_VOID(post(incoming[static_cast<size_t>(from)], from, false));
    }
    for (int step = 1; step < size_; ++step) {
      const int to = (rank_ + step) % size_;
      TESSERA_TRY_VOID(post(outgoing[static_cast<size_t>(to)], to, true));
    }
    if (requests_.empty()) return {};
    return checked(TESSERA_NATIVE(MPI_Waitall)(exact_cast<int>(requests_.size()), requests_.data(),
                                               MPI_STATUSES_IGNORE),
                   "MPI_Waitall");
  };
  auto result = run();
  if (!result) {
    abandoned_.push_back(std::move(outgoing));
    abandoned_.push_back(std::move(incoming));
  }
  return result;
}

Result<std::vector<Bytes>> MpiExchange::all_to_all(std::vector<Bytes> outgoing) {
  TESSERA_ASSERT(outgoing.size() == static_cast<size_t>(size_));
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return outgoing;
  const std::vector<uint64_t> sent = sizes_of(outgoing);
  std::vector<uint64_t> received(sent.size());
  TESSERA_TRY_VOID(checked(
      PMPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, communicator_),
      "MPI_Alltoall"));
  received[static_cast<size_t>(rank_)] = 0;  // moved, not sent
  std::vector<Bytes> incoming = messages_of(received);
  TESSERA_TRY_VOID(transfer(outgoing, incoming));
  return incoming;
}

Result<std::vector<Bytes>> MpiExchange::all_gather(Bytes mine) {
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return std::vector<Bytes>{std::move(mine)};
  std::vector<uint64_t> sizes(static_cast<size_t>(size_));
  const uint64_t my_size = mine.size();
  TESSERA_TRY_VOID(checked(
      PMPI_Allgather(&my_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, communicator_),
      "MPI_Allgather"));
  const uint64_t total = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  if (total > static_cast<uint64_t>(piece_bytes_)) {
    std::vector<Bytes> all = messages_of(sizes);
    all[static_cast<size_t>(rank_)] = std::move(mine);
    for (int root = 0; root < size_; ++root) {
      TESSERA_TRY_VOID(broadcast_pieces(root, all[static_cast<size_t>(root)]));
    }
    return all;
  }
  Bytes joined(total);
  if (total == 0) return split(joined, sizes);
  std::vector<int> counts(sizes.begin(), sizes.end());
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  TESSERA_TRY_VOID(
      checked(PMPI_Allgatherv(mine.data(), static_cast<int>(my_size), MPI_BYTE, joined.data(),
                              counts.data(), places.data(), MPI_BYTE, communicator_),
              "MPI_Allgatherv"));
  return split(joined, sizes);
}

Result<std::vector<Bytes>> MpiExchange::gather(int root, Bytes mine) {
  TESSERA_ASSERT(0 <= root && root < size_);
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return std::vector<Bytes>{std::move(mine)};
  const auto ranks = static_cast<size_t>(size_);
  std::vector<uint64_t> sizes(ranks);
  const uint64_t my_size = mine.size();
  TESSERA_TRY_VOID(checked(
      PMPI_Gather(&my_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, root, communicator_),
      "MPI_Gather"));
  if (rank_ == root) sizes[static_cast<size_t>(rank_)] = 0;  // moved, not sent
  std::vector<Bytes> incoming = messages_of(sizes);
  std::vector<Bytes> outgoing(ranks);
  outgoing[static_cast<size_t>(root)] = std::move(mine);
  TESSERA_TRY_VOID(transfer(outgoing, incoming));
  if (rank_ != root) incoming.clear();
  return incoming;
}

Result<void> MpiExchange::broadcast_pieces(int root, Bytes& value) {
  std::span<std::byte> rest = value;
  while (!rest.empty()) {
    const auto piece = rest.first(std::min(rest.size(), static_cast<size_t>(piece_bytes_)));
    TESSERA_TRY_VOID(checked(
        PMPI_Bcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, communicator_),
        "MPI_Bcast"));
    rest = rest.subspan(piece.size());
  }
  return {};
}

Result<Bytes> MpiExchange::broadcast(int root, Bytes value) {
  TESSERA_ASSERT(0 <= root && root < size_);
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return value;
  uint64_t size = value.size();
  TESSERA_TRY_VOID(checked(PMPI_Bcast(&size, 1, MPI_UINT64_T, root, communicator_), "MPI_Bcast"));
  if (rank_ != root) value.assign(size, std::byte{});
  TESSERA_TRY_VOID(broadcast_pieces(root, value));
  return value;
}

Result<uint64_t> MpiExchange::all_max(uint64_t mine) {
  TESSERA_TRY_VOID(usable());
  if (size_ == 1) return mine;
  // As signed numbers of the same order: MPICH 4.0 takes unsigned ones for signed in MPI_MAX.
  const auto given = static_cast<int64_t>(mine ^ kTopBit);
  int64_t largest = 0;
  TESSERA_TRY_VOID(checked(PMPI_Allreduce(&given, &largest, 1, MPI_INT64_T, MPI_MAX, communicator_),
                           "MPI_Allreduce"));
  return static_cast<uint64_t>(largest) ^ kTopBit;
}

}  // namespace tessera::mpiio
