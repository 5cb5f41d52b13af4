#include "tessera/mpiio/requests.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "tessera/mpiio/fault.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/worker.hpp"

namespace tessera::mpiio {

class Background {
 public:
  Background(OpenFile& file, std::unique_ptr<Prepared> prepared, const Buffer& buffer)
      : file_(&file),
        handle_(file.handle()),
        handler_(file.handler),
        means_(means_of(file)),
        prepared_(std::move(prepared)),
        buffer_(buffer) {
    buffer_.type = keep_type(buffer.type);
    if (prepared_->placed) means_.placed = &*prepared_->placed;
  }
  ~Background() { drop_type(buffer_.type); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // In the worker.
  void execute() {
    auto moved = contain(
        [&]() -> base::Result<move::Transfer> { return execute_alone(prepared_->move, means_); });
    moved_ = moved ? *std::move(moved) : move::Transfer{0, base::failure_of(moved)};
  }
  // In the program's thread, after the job.
  void settle() {
    done_ = finish(*prepared_, moved_, buffer_);
    prepared_.reset();
  }

  [[nodiscard]] const OpenFile* file() const { return file_; }
  [[nodiscard]] int64_t bytes() const { return done_.bytes; }
  int raise() const {
    return done_.status ? MPI_SUCCESS : handler_.call(handle_, code_of(done_.status.error()));
  }

  std::shared_ptr<port::Job> job;
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  const OpenFile* file_;  // for comparison; may be closed once the job is done
  MPI_File handle_;
  ErrorHandler handler_;
  Means means_;
  std::unique_ptr<Prepared> prepared_;
  Buffer buffer_;
  move::Transfer moved_;
  Done done_;
};

namespace {

using Shared = std::shared_ptr<Background>;

uint64_t key_of(MPI_Request request) {
  uint64_t key = 0;
  static_assert(sizeof(request) <= sizeof(key));
  std::memcpy(&key, &request, sizeof(request));
  return key;
}

// All accesses whose requests the MPI still knows, and those whose requests are not completed yet.
struct Table {
  std::unordered_map<uint64_t, Shared> known;
  std::vector<Shared> running;
};

struct Everything {
  port::Guarded<Table> table;
  port::Guarded<std::unique_ptr<port::Worker>> worker;
  std::atomic<int64_t> count{0};
};

Everything& everything() {
  static auto& all = *new Everything;
  return all;
}

int answer_query(void* extra, MPI_Status* status) {
  set_status(status, (*static_cast<Shared*>(extra))->bytes());
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int forget(void* extra) {
  const std::unique_ptr<Shared> mine(static_cast<Shared*>(extra));
  everything().table.with([&](Table& table) { table.known.erase(key_of((*mine)->request)); });
  everything().count.fetch_sub(1);
  return MPI_SUCCESS;
}

// A transfer that has begun is not taken back.
int ignore_cancel(void* /*extra*/, int /*complete*/) { return MPI_SUCCESS; }

std::shared_ptr<port::Job> submit(std::function<void()> work) {
  return everything().worker.with([&](std::unique_ptr<port::Worker>& worker) {
    if (!worker) worker = std::make_unique<port::Worker>();
    return worker->submit(std::move(work));
  });
}

}  // namespace

int start_access(OpenFile& file, const Access& asked, const Buffer& buffer, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  auto prepared = contain([&] { return prepare(file, asked, buffer); });
  if (!prepared) return raise(file, prepared.error());
  const auto background = std::make_shared<Background>(file, *std::move(prepared), buffer);
  auto extra = std::make_unique<Shared>(background);
  const int code = PMPI_Grequest_start(answer_query, forget, ignore_cancel, extra.get(), request);
  if (code != MPI_SUCCESS) return raise(file, fault(MPI_ERR_OTHER, "make a request").error);
  extra.release();
  background->request = *request;
  everything().count.fetch_add(1);
  background->job = submit([background] { background->execute(); });
  everything().table.with([&](Table& table) {
    table.known.emplace(key_of(*request), background);
    table.running.push_back(background);
  });
  return MPI_SUCCESS;
}

void wait_for_jobs(OpenFile& file) {
  if (!any_background()) return;
  const auto running = everything().table.with([&](const Table& table) { return table.running; });
  for (const Shared& background : running) {
    if (background->file() == &file) background->job->wait();
  }
}

bool any_background() { return everything().count.load(std::memory_order_relaxed) > 0; }

Shared find_background(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return nullptr;
  return everything().table.with([&](const Table& table) -> Shared {
    const auto found = table.known.find(key_of(request));
    return found == table.known.end() ? nullptr : found->second;
  });
}

void complete_finished() {
  const std::vector<Shared> finished = everything().table.with([](Table& table) {
    const auto running =
        std::stable_partition(table.running.begin(), table.running.end(),
                              [](const Shared& background) { return !background->job->done(); });
    std::vector<Shared> done(running, table.running.end());
    table.running.erase(running, table.running.end());
    return done;
  });
  for (const Shared& background : finished) {
    background->settle();
    PMPI_Grequest_complete(background->request);
  }
}

void wait_for(const Background& background) {
  background.job->wait();
  complete_finished();
}

void wait_briefly(const Background& background, int64_t nanoseconds) {
  background.job->wait_for(nanoseconds);
}

int raise_error(const Background& background) { return background.raise(); }

void end_requests() {
  everything().worker.with([](std::unique_ptr<port::Worker>& worker) { worker.reset(); });
  complete_finished();
}

}  // namespace tessera::mpiio
