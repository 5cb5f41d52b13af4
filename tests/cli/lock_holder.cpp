// A client of a lock server for tests: takes one lock and says what happens to it.
//
//   lock_holder ADDRESS CLIENT FILE shared|exclusive BEGIN LENGTH [COUNT STRIDE]
//
// Prints a line "granted", and "lost: WHY" when the lock is taken away. Ends with "released" on
// SIGTERM.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tessera/lock/lock_connection.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"

namespace {

using namespace tessera;
using Kind = lock::LockClient::Event::Kind;

constexpr int64_t kStepNs = 10'000'000;

std::atomic<bool> g_stopped = false;

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

lock::LockClient::Asked asked_of(const std::vector<std::string>& words) {
  const auto number = [&](size_t at) { return std::atoll(words[at].c_str()); };
  pattern::Pattern bytes = pattern::Pattern::run({{number(5)}}, number(6)).value();
  if (words.size() == 9) bytes = pattern::repeat(bytes, number(7), {{number(8)}}).value();
  const lock::Mode mode = words[4] == "shared" ? lock::Mode::kShared : lock::Mode::kExclusive;
  return {.file = words[3], .claim = {pattern::ByteSet::of(bytes).value(), mode}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() != 7 && words.size() != 9) return 2;
  std::signal(SIGTERM, [](int) { g_stopped = true; });
  const port::PosixClock clock;
  const auto transport = port::PosixTransport::create().value();
  lock::LockConnection connection(words[1], words[2], {*transport, clock});
  const lock::Sequence sequence = connection.ask(asked_of(words));
  while (!g_stopped) {
    const auto event = connection.wait(sequence, kStepNs);
    if (event) say(event->kind == Kind::kGranted ? "granted" : "lost: " + event->error.message());
  }
  connection.release(sequence);
  connection.live(kStepNs);
  say("released");
  return 0;
}
