#include "tessera/mpiio/shared_numbers.hpp"

#include <utility>

#include "tessera/mpiio/node_messages.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/node_host.hpp"
#include "tessera/port/process_team.hpp"

namespace tessera::mpiio {

base::Result<int64_t> TeamNumber::fetch_add(int64_t by) { return team_.fetch_add(index_, by); }

base::Result<int64_t> TeamNumber::load() { return team_.load(index_); }

base::Result<void> TeamNumber::store(int64_t value) {
  team_.store(index_, value);
  return {};
}

namespace {

// A number that cannot be reached, for a reason.
class MissingNumber final : public port::SharedNumber {
 public:
  explicit MissingNumber(base::Error why) : why_(std::move(why)) {}
  base::Result<int64_t> fetch_add(int64_t /*by*/) override { return base::Failure{why_}; }
  base::Result<int64_t> load() override { return base::Failure{why_}; }
  base::Result<void> store(int64_t /*value*/) override { return base::Failure{why_}; }

 private:
  const base::Error why_;
};

// One of this process, for all its files.
base::Result<std::shared_ptr<port::NumberHost>> number_host() {
  static auto& kept = *new port::Guarded<std::weak_ptr<port::NumberHost>>;
  return kept.with([](auto& known) -> base::Result<std::shared_ptr<port::NumberHost>> {
    if (auto running = known.lock()) return running;
    TESSERA_TRY(auto made, port::NumberHost::start(port::node_host()));
    known = made;
    return made;
  });
}

}  // namespace

base::Result<base::Bytes> HostedNumbers::host(int count) {
  auto running = number_host();
  if (!running) {
    return base::fail(running.error().code,
                      "the numbers that ranks of several nodes share cannot be reached on the "
                      "first rank's node (TESSERA_HOST can name it): " +
                          running.error().message());
  }
  host_ = *std::move(running);
  base::Bytes places;
  base::ByteWriter writer(places);
  for (int i = 0; i < count; ++i) {
    hosted_.push_back(host_->add());
    port::write_place(writer, hosted_.back());
  }
  return places;
}

base::Result<std::unique_ptr<HostedNumbers>> HostedNumbers::make(port::Exchange& ranks, int count) {
  std::unique_ptr<HostedNumbers> made(new HostedNumbers);
  base::Bytes message;
  if (ranks.rank() == 0) message = sealed(made->host(count));
  TESSERA_TRY(const base::Bytes told, ranks.broadcast(0, std::move(message)));
  const auto places = opened(told);
  base::ByteReader reader(places ? *places : base::ByteView());
  for (int i = 0; i < count; ++i) {
    if (!places) {
      made->numbers_.push_back(std::make_unique<MissingNumber>(places.error()));
      continue;
    }
    TESSERA_TRY(auto place, port::read_place(reader));
    made->numbers_.push_back(std::make_unique<port::RemoteNumber>(std::move(place)));
  }
  return made;
}

HostedNumbers::~HostedNumbers() {
  for (const port::NumberPlace& place : hosted_) host_->remove(place);
}

}  // namespace tessera::mpiio
