#include "bench/remap_bench.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "bench/other_build.hpp"
#include "bench/remap_files.hpp"
#include "bench/remap_views.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/start_program.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr double kOfCopy = 0.7;
constexpr int64_t kMebibyte = int64_t{1} << 20;
// Larger files need a disk that has room for three of them.
constexpr int64_t kAnywhereBytes = 1024 * kMebibyte;
constexpr const char* kCopy = "/bin/cp";

struct Remapping {
  int64_t writers = 0;
  Shape from = Shape::kRows;
  int64_t readers = 0;
  Shape to = Shape::kRows;
  int64_t side = 0;  // of the square that the file is
  bool synced = false;

  [[nodiscard]] int64_t bytes() const { return side * side; }
  [[nodiscard]] std::string size_text() const {
    const int64_t mebibytes = bytes() / kMebibyte;
    return mebibytes < 1024 ? fmt::format("{} MiB", mebibytes)
                            : fmt::format("{} GiB", mebibytes / 1024);
  }
  [[nodiscard]] std::string title() const {
    return fmt::format("remap {} to {}, {} to {}, {}{}", writers, readers, name_of(from),
                       name_of(to), size_text(), synced ? ", and sync" : "");
  }
};

constexpr int64_t kSide64 = 8192;  // of 64 MiB, and so on
constexpr int64_t kSide256 = 16384;
constexpr int64_t kSide1024 = 32768;
constexpr int64_t kSide4096 = 65536;

const Remapping kRemappings[] = {
    {3, Shape::kRows, 4, Shape::kColumns, kSide64},
    {16, Shape::kCyclic, 9, Shape::kRows, kSide64},
    {16, Shape::kBlocks, 9, Shape::kOverlappingRows, kSide64},
    {9, Shape::kIrregular, 16, Shape::kCyclic, kSide64},
    {4, Shape::kRows, 100, Shape::kOverlappingBlocks, kSide64},
    {3, Shape::kRows, 4, Shape::kColumns, kSide256},
    {16, Shape::kBlocks, 9, Shape::kBlocks, kSide256},
    {9, Shape::kRows, 16, Shape::kIrregular, kSide256},
    {9, Shape::kBlocks, 16, Shape::kOverlappingBlocks, kSide256},
    {4, Shape::kColumns, 100, Shape::kBlocks, kSide256},
    {3, Shape::kRows, 4, Shape::kColumns, kSide1024},
    {4, Shape::kRows, 100, Shape::kOverlappingBlocks, kSide1024},
    {3, Shape::kRows, 4, Shape::kColumns, kSide4096},
    {3, Shape::kRows, 4, Shape::kColumns, kSide256, true},
    {4, Shape::kRows, 100, Shape::kOverlappingBlocks, kSide256, true},
};

Result<void> sync_file(const std::string& path) {
  const port::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || ::fsync(file.number()) != 0) {
    return base::fail_errno(errno, "sync " + path);
  }
  return {};
}

Result<void> copy_once(const RemapFiles& files, bool synced) {
  TESSERA_TRY(const int status,
              port::run_program({kCopy, "--reflink=never", files.source(), files.target()}, {}));
  if (status != 0) {
    return base::fail(base::Code::kFailed, fmt::format("{} ended with {}", kCopy, status));
  }
  return synced ? sync_file(files.target()) : Result<void>();
}

Contestant contestant(const char* name, std::shared_ptr<const RemapFiles> files,
                      std::function<Result<void>(const RemapFiles&)> once) {
  return {name, [files = std::move(files), once = std::move(once)](int64_t repetitions) {
            return time_anew(*files, repetitions, once);
          }};
}

// The programs of both builds: this one's library cannot run the other's code.
Result<void> program_once(const std::string& build, const std::string& source,
                          const RemapFiles& files, bool synced) {
  std::vector<std::string> words = {"remap",   source,        files.target(),
                                    "--views", files.views(), "--quiet"};
  if (!synced) words.emplace_back("--no-sync");
  return run_tessera(build, words);
}

Contestant program(const char* name, const std::string& build, const std::string& source,
                   const std::shared_ptr<const RemapFiles>& files, bool synced) {
  return contestant(name, files, [=](const RemapFiles& mine) {
    return program_once(build, source, mine, synced);
  });
}

bool has_room(const RemapFiles& files, int64_t bytes) {
  std::error_code error;
  const auto space = std::filesystem::space(files.folder.path(), error);
  return !error && space.available >= static_cast<uint64_t>(bytes);
}

// The other build's own source: it need not know the format of this build's. What it makes of it is
// checked once.
Result<std::string> make_source_before(const RemapFiles& files, const Remapping& remapping) {
  if (remapping.bytes() > kAnywhereBytes && !has_room(files, 3 * remapping.bytes())) {
    return base::fail(base::Code::kFailed, "there is no room for a source of its own");
  }
  const std::string plain = files.folder.path() + "/plain";
  const std::string source = files.folder.path() + "/source-before";
  const std::string writers = files.folder.path() + "/writers.json";
  TESSERA_TRY_VOID(
      write_text(writers, views_text(remapping.from, remapping.writers, remapping.side)));
  TESSERA_TRY_VOID(make_plain_file(plain, remapping.bytes()));
  TESSERA_TRY_VOID(run_tessera(other_build(), {"import", plain, source, "--views", writers}));
  TESSERA_TRY_VOID(remove_file(plain));
  TESSERA_TRY_VOID(remove_file(files.target()));
  TESSERA_TRY_VOID(program_once(other_build(), source, files, false));
  TESSERA_TRY_VOID(run_tessera(other_build(), {"export", files.target(), plain}));
  TESSERA_TRY_VOID(check_plain_file(plain, remapping.bytes()));
  TESSERA_TRY_VOID(remove_file(plain));
  return source;
}

void compare_programs(const std::shared_ptr<const RemapFiles>& files, const Remapping& remapping,
                      Case& measured) {
  const auto source = make_source_before(*files, remapping);
  if (!source) {
    measured.not_compared = not_by_the_build_before(source.error());
    return;
  }
  measured.comparison =
      Comparison{program("before", other_build(), *source, files, remapping.synced),
                 program("now", {}, files->source(), files, remapping.synced)};
}

Result<Case> make_case(const Remapping& remapping) {
  TESSERA_TRY(ScratchFolder folder, ScratchFolder::make());
  const auto files = std::make_shared<const RemapFiles>(RemapFiles{std::move(folder)});
  if (remapping.bytes() > kAnywhereBytes && !has_room(*files, 3 * remapping.bytes())) {
    return left_out(fmt::format("{} has no room for three times {}", files->folder.path(),
                                remapping.size_text()));
  }
  const std::string readers = views_text(remapping.to, remapping.readers, remapping.side);
  TESSERA_TRY_VOID(make_object_file(files->source(),
                                    views_text(remapping.from, remapping.writers, remapping.side),
                                    remapping.bytes()));
  TESSERA_TRY_VOID(write_text(files->views(), readers));
  TESSERA_TRY(const remap::RemapReport report, remap_once(*files, false));
  TESSERA_TRY_VOID(check_object_file(files->target(), readers, remapping.bytes()));
  Case measured;
  measured.unit = "GB/s";
  measured.kind = Kind::kRate;
  measured.amount = static_cast<double>(remapping.bytes());
  measured.x = measured.amount / kMebibyte;
  measured.x_label = "MiB";
  const bool synced = remapping.synced;
  measured.ours = contestant("tessera remap", files, [synced](const RemapFiles& mine) {
    const auto done = remap_once(mine, synced);
    return done ? Result<void>() : base::failure_of(done);
  });
  measured.peers = {contestant(
      "cp", files, [synced](const RemapFiles& mine) { return copy_once(mine, synced); })};
  if (remapping.bytes() >= kAnywhereBytes) measured.not_compared = "remapping from 1 GiB";
  if (!other_build().empty()) compare_programs(files, remapping, measured);
  if (!synced) measured.bars = {{Bar::Kind::kRatioAtLeast, kOfCopy}};
  measured.note = fmt::format(
      "rates of the file's {} MiB; ours writes {} MiB more, copies of what readers share; {} "
      "threads",
      remapping.bytes() / kMebibyte, report.extra_bytes / kMebibyte, remap::default_threads());
  return measured;
}

}  // namespace

std::vector<CaseMaker> remap_cases() {
  std::vector<CaseMaker> cases;
  for (const Remapping& remapping : kRemappings) {
    cases.push_back({remapping.title(),
                     remapping.synced ? "remapping: and sync" : "remapping: against cp",
                     [remapping] { return make_case(remapping); }});
  }
  return cases;
}

}  // namespace tessera::bench
