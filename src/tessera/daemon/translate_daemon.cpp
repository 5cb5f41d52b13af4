#include "tessera/daemon/translate_daemon.hpp"

#include <sys/types.h>
#include <time.h>

#include <vector>

#include "tessera/container/target.hpp"
#include "tessera/container/writer_claim.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::daemon {

namespace {

using base::Code;
using base::Result;
using port::PlainFile;

TranslateSettings with_paths(TranslateSettings settings) {
  settings.request.in = remap::path_of(settings.request.in);
  settings.request.out = remap::path_of(settings.request.out);
  settings.request.like = remap::path_of(settings.request.like);
  return settings;
}

}  // namespace

TranslateDaemon::TranslateDaemon(TranslateSettings settings,
                                 std::function<void(const std::string&)> log)
    : settings_(with_paths(std::move(settings))), log_(std::move(log)) {}

void pause_for(int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec time = {ns / kSecond, ns % kSecond};
  ::nanosleep(&time, nullptr);
}

// Helpers sleep as long, so that nobody waits for another in a loop.
Result<void> TranslateDaemon::pause() const {
  if (settings_.helpers != nullptr) TESSERA_TRY_VOID(settings_.helpers->idle());
  pause_for(settings_.poll_ns);
  return {};
}

// The file, once it is there and an object file; null if we are stopped before.
Result<std::unique_ptr<PlainFile>> TranslateDaemon::wait_for_source() {
  while (!stopped_) {
    auto file = PlainFile::open(settings_.request.in, {.read = true});
    if (!file && file.error().code != Code::kNotFound) return file;
    if (file) {
      TESSERA_TRY(const bool objects, remap::is_object_file(**file));
      if (objects && container::Container::open(**file)) return file;
      // A producer that was just started may not have made an object file of it yet.
      const bool written = container::has_writer(**file);
      TESSERA_TRY(const int64_t size, (*file)->size());
      if (!objects && !written && size > 0) {
        return base::fail(Code::kInvalid,
                          settings_.request.in +
                              " is a plain file; only object files can be followed, plain ones "
                              "are for tessera remap");
      }
    }
    TESSERA_TRY_VOID(pause());
  }
  return std::unique_ptr<PlainFile>();
}

// What would be known at the first step only, when the old file may be gone.
Result<void> TranslateDaemon::check_request(PlainFile& in) const {
  const remap::Request& request = settings_.request;
  if (container::is_one_file(request.in, request.out)) {
    return base::fail(Code::kInvalid, request.in + " cannot be followed into itself");
  }
  if (!request.views.empty() && container::is_one_file(request.views, request.out)) {
    return base::fail(Code::kInvalid, request.out + " is the views file; name another file");
  }
  TESSERA_TRY(const auto found, container::Container::open(in));
  port::PosixDisk disk;
  const auto consumers = remap::load_consumers(disk, request, found.superblock().logical_size);
  return consumers ? Result<void>() : base::failure_of(consumers);
}

Result<std::unique_ptr<remap::Translator>> TranslateDaemon::start(PlainFile& in, PlainFile& out) {
  port::SystemRandom random;
  remap::TranslatorOptions options;
  options.plan = settings_.request.options.plan;
  options.threads = settings_.threads;
  options.helpers = settings_.helpers;
  options.consumers = [this](int64_t size) {
    port::PosixDisk disk;
    return remap::load_consumers(disk, settings_.request, size);
  };
  return remap::Translator::start(in, out, random, std::move(options));
}

Result<bool> TranslateDaemon::step(remap::Translator& translator) {
  TESSERA_TRY(const bool progress, translator.step());
  if (progress) log_("commit " + std::to_string(translator.counts().steps) + " translated");
  return progress;
}

// Those who still read the file that is replaced keep that one.
Result<void> TranslateDaemon::publish(container::Target& target, port::FreshFile& fresh) {
  TESSERA_TRY_VOID(target.publish(fresh));
  return port::PosixDisk().sync_directory(port::directory_of(target.path()));
}

Result<void> TranslateDaemon::follow(PlainFile& in, remap::Translator& translator) {
  const port::PosixClock clock;
  int64_t busy_ns = clock.now_ns();
  while (true) {
    // Asked before the step: what is committed after it is found by the next.
    const bool last = stopped_;
    const bool written = container::has_writer(in);
    TESSERA_TRY(const bool progress, step(translator));
    if (last) return {};
    if (written || progress) busy_ns = clock.now_ns();
    if (clock.now_ns() - busy_ns > settings_.linger_ns) return {};
    TESSERA_TRY_VOID(pause());
  }
}

// One run for each consumer instead of one for each step.
Result<void> TranslateDaemon::tidy() {
  if (settings_.helpers != nullptr) {
    const auto done = settings_.helpers->lay_out_anew(settings_.request);
    return done ? Result<void>() : base::failure_of(done);
  }
  std::vector<Result<remap::RemapReport>> results(static_cast<size_t>(settings_.threads),
                                                  remap::RemapReport{});
  port::run_ranks(settings_.threads, [&](port::Exchange& exchange) {
    const remap::Request mine = remap::anew(settings_.request, exchange.rank() == 0);
    results[static_cast<size_t>(exchange.rank())] = remap::run_on_machine(exchange, mine);
  });
  if (!results.front()) return base::failure_of(results.front());
  return {};
}

Result<remap::TranslatorCounts> TranslateDaemon::run() {
  auto counts = translate();
  if (settings_.helpers != nullptr) {
    settings_.helpers->end(counts ? Result<void>() : base::failure_of(counts));
  }
  return counts;
}

Result<remap::TranslatorCounts> TranslateDaemon::translate() {
  TESSERA_TRY(auto in, wait_for_source());
  if (in == nullptr) return remap::TranslatorCounts{};
  TESSERA_TRY_VOID(check_request(*in));
  const remap::Request& request = settings_.request;
  TESSERA_TRY(auto target, container::Target::hold(request.out, request.options.existing));
  constexpr mode_t kPermissions = 0666;  // less the umask
  TESSERA_TRY(auto fresh, port::PosixFreshFile::create(target.path(), kPermissions));
  container::claim_unnamed(fresh->file());
  TESSERA_TRY(auto translator, start(*in, fresh->file()));
  log_("following " + request.in);
  if (settings_.helpers == nullptr) TESSERA_TRY_VOID(step(*translator));
  TESSERA_TRY_VOID(publish(target, *fresh));
  TESSERA_TRY_VOID(follow(*in, *translator));
  const remap::TranslatorCounts counts = translator->counts();
  translator.reset();
  fresh.reset();
  if (counts.steps > 1) TESSERA_TRY_VOID(tidy());
  return counts;
}

}  // namespace tessera::daemon
