// The role of a translator: follows an object file that a job writes until the job has gone.
//
// Around remap/translator.hpp: waits for the file to appear, looks for commits, and ends when
// everything is translated and nobody writes the file any more, or when it is stopped; then too it
// translates what was committed. At the end a file that grew in several steps is laid out as one.
// The new file gets its name with its first commit, or, where other processes help and open it by
// name, empty; what had the name before stays until the first file and the views are known to be
// good. It can be read, through any view, from then on. Thread safety: stop() from anywhere, also
// from signal handlers; the rest in one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/container/target.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/remap/request.hpp"
#include "tessera/remap/translator.hpp"

namespace tessera::daemon {

struct TranslateSettings {
  remap::Request request;  // what, whereto, for whom
  int threads = 1;
  remap::Helpers* helpers = nullptr;  // other processes, instead of threads; told when it ends
  int64_t poll_ns = 50'000'000;       // between two looks
  int64_t linger_ns = 1'000'000'000;  // after the last writer has gone; the next may come
};

// Sleeps; a signal ends it early.
void pause_for(int64_t ns);

class TranslateDaemon {
 public:
  TranslateDaemon(TranslateSettings settings, std::function<void(const std::string&)> log);

  // Runs until there is nothing more to do. Fails as the files do, with kRetry if somebody writes
  // the new file already, and with what a step failed with.
  [[nodiscard]] base::Result<remap::TranslatorCounts> run();
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] base::Result<std::unique_ptr<port::PlainFile>> wait_for_source();
  [[nodiscard]] base::Result<void> check_request(port::PlainFile& in) const;
  [[nodiscard]] base::Result<std::unique_ptr<remap::Translator>> start(port::PlainFile& in,
                                                                       port::PlainFile& out);
  [[nodiscard]] base::Result<bool> step(remap::Translator& translator);
  [[nodiscard]] base::Result<void> publish(container::Target& target, port::FreshFile& fresh);
  [[nodiscard]] base::Result<void> follow(port::PlainFile& in, remap::Translator& translator);
  [[nodiscard]] base::Result<void> tidy();
  [[nodiscard]] base::Result<remap::TranslatorCounts> translate();
  [[nodiscard]] base::Result<void> pause() const;

  const TranslateSettings settings_;
  const std::function<void(const std::string&)> log_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace tessera::daemon
