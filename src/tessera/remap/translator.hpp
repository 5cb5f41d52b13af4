// Translator: keeps a second object file in the layout of its readers while somebody writes the
// first.
//
// A producer commits now and then. Each step takes what the last commits changed, lays it out for
// the consumers as a plan says, behind what is there already, and commits the second file: so its
// readers see each state that a step found, whole, in their layout. A file of one step is laid out
// as remap() does it; of several, each step's bytes are one run for each consumer.
//   (T1) After a step the second file has exactly the bytes and the size of the commit it took.
//   (T2) A byte is read and written again only if it was written again: by the epochs of the map.
//   (T3) A step that fails leaves the second file as of the step before, and may be tried again.
// The producer is not asked: what it commits while a step reads is taken by the next one, and where
// it writes over what the step still needed, checksums tell, and the step begins anew.
// Thread safety: none; a step runs in several threads by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/random.hpp"
#include "tessera/remap/helpers.hpp"
#include "tessera/remap/plan.hpp"
#include "tessera/remap/source.hpp"

namespace tessera::remap {

struct TranslatorOptions {
  PlanOptions plan;
  int threads = 1;
  Helpers* helpers = nullptr;  // fill together with it, instead of threads
  int64_t block_bytes = container::kBlockBytes;
  // The consumers of a file of so many bytes.
  std::function<base::Result<std::vector<Consumer>>(int64_t size)> consumers;
};

struct TranslatorCounts {
  int64_t steps = 0;  // that found something
  int64_t stored_bytes = 0;
};

class Translator {
 public:
  // `in` is an object file, `out` becomes one and is made durable. Both outlive the translator.
  // Fails as Container::open() and create() do.
  [[nodiscard]] static base::Result<std::unique_ptr<Translator>> start(port::File& in,
                                                                       port::File& out,
                                                                       port::Random& random,
                                                                       TranslatorOptions options);

  // Translates the last commit; false if that was done before. Fails as the files do, with
  // kIntegrity if the first file is damaged, and as make_plan() does.
  [[nodiscard]] base::Result<bool> step();

  [[nodiscard]] const TranslatorCounts& counts() const { return counts_; }

 private:
  Translator(port::File& in, port::File& out, TranslatorOptions options,
             container::Container in_container, container::Container out_container)
      : in_(in),
        out_(out),
        options_(std::move(options)),
        in_container_(std::move(in_container)),
        out_container_(std::move(out_container)) {}

  [[nodiscard]] base::Result<void> translate(const container::Contents& found);
  [[nodiscard]] base::Result<ByteSet> changed_bytes(const container::Contents& found) const;
  [[nodiscard]] base::Result<std::vector<container::Allocation>> fill_shelves(
      const container::Contents& found, const Plan& plan);
  [[nodiscard]] base::Result<container::Contents> next_contents(
      const container::Contents& found, const Plan& plan,
      std::vector<container::Allocation> allocations) const;

  port::File& in_;
  port::File& out_;
  const TranslatorOptions options_;
  container::Container in_container_;
  container::Container out_container_;
  container::Contents contents_;  // of the second file
  uint64_t taken_sequence_ = 0;   // of the commit that was translated last
  uint64_t taken_epoch_ = 0;      // bytes of later epochs are new
  TranslatorCounts counts_;
};

}  // namespace tessera::remap
